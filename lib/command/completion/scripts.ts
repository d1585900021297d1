export type Shell = "bash" | "zsh" | "fish";

/**
 * In each script the command itself answers which words can follow: one a line with its meaning
 * after a tab, and ":4" or ":0" at the end, where 0 also allows files.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# source <(tidemark completion bash)
_tidemark() {
  local line directive=0
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ "$directive" = 4 ] || compopt -o default 2>/dev/null
}
complete -F _tidemark tidemark
`,
  zsh: `#compdef tidemark
# source <(tidemark completion zsh)
_tidemark() {
  local -a candidates
  local line directive=0
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :*) directive=\${line#:} ;;
      *$'\\t'*) candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
      ?*) candidates+=("\${line//:/\\\\:}") ;;
    esac
  done
  if (( \${#candidates} )); then
    _describe tidemark candidates
  elif [[ $directive == 0 ]]; then
    _files
  fi
}
compdef _tidemark tidemark
`,
  fish: `# tidemark completion fish | source
function __tidemark_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct | string collect --allow-empty)
  for line in (command $words[1] __complete $words[2..] "$current" 2>/dev/null)
    switch $line
      case ':0'
        __fish_complete_path "$current"
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c tidemark -f -a '(__tidemark_complete)'
`,
};
