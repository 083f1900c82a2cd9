import type { ExportTools } from "../core/export/ports";
import { startOnnxRuntime } from "./onnx/run-onnx";
import { loadExportable, runLayersModel } from "./tfjs/exportable";

/** What exports are made and checked with: TensorFlow.js and onnxruntime, both on WebAssembly. To be imported when it is needed: they take their time to load. */
export const exportTools: ExportTools = { loadModel: loadExportable, runLayersModel, startOnnxRuntime };
