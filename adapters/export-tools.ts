import type { ExportTools } from "../core/export";
import { startOnnxRuntime } from "./onnx/run-onnx";
import { loadExportable, runLayersModel } from "./tfjs/exportable";

/** TensorFlow.js and onnxruntime, both on WebAssembly. They load slowly: import this module only when it is needed. */
export const exportTools: ExportTools = { loadModel: loadExportable, runLayersModel, startOnnxRuntime };
