import { layers, type SymbolicTensor } from "@tensorflow/tfjs-layers";
import { joinedMasks } from "../../../trainer-container/tfjs/layers/serialized";
import { networkOf } from "../../../trainer-container/tfjs/network";
import { startWasmBackend } from "../../../trainer-container/tfjs/wasm-backend";
import { build, chain } from "../../support/network-cases";

beforeAll(() => startWasmBackend());

const embed = (from: SymbolicTensor, maskZero: boolean) =>
  layers.embedding({ inputDim: 4, outputDim: 3, maskZero }).apply(from) as SymbolicTensor;
const lstm = (returnSequences = false) => layers.lstm({ units: 3, returnSequences });

it.each([
  ["a recurrent layer takes that of a sum", [true, true], layers.add(), [layers.dense({ units: 3 }), lstm()], ["Add"]],
  ["two recurrent layers take it", [true, true], layers.average(), [lstm(true), lstm()], ["Average", "Average"]],
  ["nothing takes the mask", [true, true], layers.add(), [layers.globalAveragePooling1d({})], []],
  ["nothing is masked", [false, false], layers.add(), [lstm()], []],
  ["the parts of a concatenation have masks", [true, true], layers.concatenate(), [lstm()], []],
  ["one part in time has a mask", [true, false], layers.concatenate({ axis: 1 }), [lstm()], ["Concatenate"]],
])("finds the layers that join masks otherwise than stock TensorFlow.js: %s", (_, masked, join, after, expected) => {
  const parts = (from: SymbolicTensor) => masked.map((maskZero) => embed(from, maskZero));
  const model = build([4], (from) => chain(...after)(join.apply(parts(from)) as SymbolicTensor));
  expect(joinedMasks(networkOf(model).layers).map(({ className }) => className)).toEqual(expected);
  model.dispose();
});
