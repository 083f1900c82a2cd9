import type { ExportTools } from "../core/export";
import { startOnnxRuntime } from "./onnx/run-onnx";
import { loadExportable, runLayersModel } from "./tfjs/exportable";

/**
 * The tools that make and check exports: TensorFlow.js and onnxruntime, both on WebAssembly. Import this module only
 * when it is needed, because they load slowly.
 */
export const exportTools: ExportTools = { loadModel: loadExportable, runLayersModel, startOnnxRuntime };
