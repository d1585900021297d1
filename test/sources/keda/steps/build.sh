#!/bin/sh
# build.sh FOLDER: builds the scale handler, the executor, the fallbacks, the formulas and the cron scaler of KEDA 2.21.0 as a program that
# decides step by step at a clock that it is given. FOLDER gets a copy of the module of KEDA; the program is FOLDER/steps.
# Left out are the other scalers and the readers of secrets: the values of the triggers are given, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
module=$(cd "$folder" && go mod download -json github.com/kedacore/keda/v2@v2.21.0 | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
rm -rf "$folder/keda"
cp -r "$module" "$folder/keda"
chmod -R u+w "$folder/keda"
cd "$folder/keda"

find pkg -name '*_test.go' -delete
find pkg/scalers -maxdepth 1 -name '*.go' ! -name scaler.go ! -name cron_scaler.go -delete
cp "$here/scaler.go" pkg/scalers/given.go
cp "$here/builder.go" pkg/scaling/scalers_builder.go

# Of the resolver only the count of the target stays.
awk '/^func GetCurrentReplicas/,/^}/; /^func ensureScaleTargetGVKR/,/^}/' pkg/scaling/resolver/scale_resolvers.go > "$folder/replicas.txt"
rm pkg/scaling/resolver/*.go
cat "$here/resolver.go" "$folder/replicas.txt" > pkg/scaling/resolver/replicas.go

# The clock of the program.
mkdir -p pkg/clock cmd/steps
cp "$here/clock.go" pkg/clock/clock.go
sed -i 's/time\.Now()/clock.Now()/; s#^import (#import (\n\t"github.com/kedacore/keda/v2/pkg/clock"#' pkg/scalers/cron_scaler.go pkg/scaling/executor/scale_scaledobjects.go
sed -i 's/clock\.Now()\(.*\)time\.Now()/clock.Now()\1clock.Now()/' pkg/scaling/executor/scale_scaledobjects.go

cp "$here/main.go" cmd/steps/main.go
go build -o "$folder/steps" ./cmd/steps
