import { setFlagsFromString } from "node:v8";

/**
 * Resets the flag that limits the heap, whose value V8 has read at the start. V8 accepts the compiled code of Node.js's own
 * modules only while all flags have their defaults. Otherwise each process and thread compiles the modules from source,
 * which takes longer than the rest of a start.
 */
setFlagsFromString("--max-old-space-size=0");
