import { createEngine } from "../../../trainer-container/engine/create-engine";
import { describeEngineContract } from "./contract";

describeEngineContract("wasm", () => createEngine({ preferred: "wasm", threads: 1 }));
