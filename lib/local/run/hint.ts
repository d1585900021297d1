import { resolve } from "node:path";
import { DEFAULT_DATA_FOLDER } from "../folder/layout.ts";
import { shellWord } from "./shell-word.ts";

/** ` --data DIR` as a person must type it for this folder, or empty where the commands find the folder by themselves. */
export const dataOption = (data: string): string => (resolve(data) === resolve(DEFAULT_DATA_FOLDER) ? "" : ` --data ${shellWord(data)}`);
