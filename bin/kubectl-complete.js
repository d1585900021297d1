#!/usr/bin/env node

// kubectl calls this file to complete `kubectl tidemark …`, with the words after `tidemark`.
process.argv.splice(2, 0, "__complete");
await import("./tidemark.js");
