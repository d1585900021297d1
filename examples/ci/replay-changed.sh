#!/bin/sh
# Prints what each autoscaler that differs from a branch would have done, as Markdown for a review.
# Call: replay-changed.sh BASE, with LOAD set to a recorded load of the repository, or with a stack
# (TIDEMARK_STACK) whose history is replayed. MANIFESTS is the folder of the manifests, FAIL_IF the
# bounds, CAPACITY what a pod serves of the load.
# Exit code 1: a bound is exceeded. Exit code 2: a comparison was not possible, and why is printed.
set -u
base=$1
bounds=${FAIL_IF:-cost > +10%, above-target > +1pt}
before=$(mktemp -d)
worst=0
git diff --name-only --diff-filter=M "$base...HEAD" -- "${MANIFESTS:-.}" |
  grep -E '\.ya?ml$' > "$before/changed" || true
while read -r file; do
  if [ -n "${LOAD:-}" ]; then
    git show "$base:$file" > "$before/before.yaml"
    set -- --trace "$LOAD" -f "$before/before.yaml" ${CAPACITY:+--capacity "$CAPACITY"}
  else
    set -- --since 7d
  fi
  tidemark replay "$@" -f "$file" -o markdown --fail-if "$bounds" || code=$?
  [ "${code:-0}" -le "$worst" ] || worst=$code
  code=0
done < "$before/changed"
rm -r "$before"
exit "$worst"
