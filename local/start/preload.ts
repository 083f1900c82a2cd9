/** Prepares a process of the product before its bundle is loaded (`node --require <bundles>/preload.js <bundle>`). */
import "./default-flags";
import { keepCompiledCode } from "./compiled-code";
import { mapStackTraces } from "./source-maps";

keepCompiledCode(__dirname);
mapStackTraces();
