/** What a person types to start a run: in the clone `npm start`, which runs the TypeScript; with the installed package its command. */
export const START_WORDS = import.meta.url.endsWith(".ts") ? "npm start --" : "npx tidemark start";
