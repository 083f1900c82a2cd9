import { startOnnxRuntime } from "../../adapters/onnx/run-onnx";
import type { ExportTools } from "../../core/export";
import { loadExportable, runLayersModel } from "../../trainer-container/tfjs/exportable";

/** TensorFlow.js and onnxruntime, both on WebAssembly. They load slowly: import this module only when it is needed. */
export const exportTools: ExportTools = { loadModel: loadExportable, runLayersModel, startOnnxRuntime };
