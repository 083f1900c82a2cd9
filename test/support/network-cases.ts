import * as tf from "@tensorflow/tfjs-core";
import {
  input,
  type LayersModel,
  layers,
  model,
  type RNN,
  type SymbolicTensor,
  sequential,
} from "@tensorflow/tfjs-layers";
import { ownLayers, registerOwnLayers } from "../../trainer-container/tfjs/layers/register";

registerOwnLayers();

export type Layer = Parameters<ReturnType<typeof sequential>["add"]>[0];
type Apply = (from: SymbolicTensor) => SymbolicTensor;

export const rows = 5;
export const image = [6, 7, 3];
export const series = [9, 4];

export const chain =
  (...list: readonly Layer[]): Apply =>
  (from) =>
    list.reduce((tensor, layer) => layer.apply(tensor) as SymbolicTensor, from);

export function build(shape: readonly number[], apply: Apply): LayersModel {
  const from = input({ shape: [...shape] });
  const last = apply(from);
  return model({ inputs: from, outputs: last.shape.length > 2 ? chain(layers.flatten())(last) : last });
}

export function shake(network: LayersModel, random: () => number): void {
  for (const weight of network.weights) {
    const positive = /variance|gamma/.test(weight.originalName);
    const values = Float32Array.from({ length: weight.read().size }, () => (positive ? 0.5 : -0.5) + random());
    weight.write(tf.tensor(values, weight.shape as number[]));
  }
}

export const cases: readonly (readonly [name: string, shape: readonly number[], apply: Apply])[] = [
  ["dense", [6], chain(layers.dense({ units: 4, activation: "relu" }), layers.dense({ units: 3, useBias: false }))],
  ["dense over positions", series, chain(layers.dense({ units: 4, activation: "tanh" }))],
  ...[
    "relu6",
    "elu",
    "selu",
    "sigmoid",
    "hardSigmoid",
    "softplus",
    "softsign",
    "swish",
    "mish",
    "gelu",
    "gelu_new",
    "softmax",
    "logSoftmax",
  ].map(
    (activation) =>
      [`activation ${activation}`, [6], chain(layers.activation({ activation: activation as "relu" }))] as const,
  ),
  ["softmax behind a convolution", image, chain(layers.conv2d({ filters: 4, kernelSize: 3, activation: "softmax" }))],
  ["relu up to a value", [6], chain(layers.reLU({ maxValue: 0.4 }))],
  ["leaky relu", image, chain(layers.leakyReLU({ alpha: 0.2 }))],
  ["elu and thresholded relu", [6], chain(layers.elu(), layers.thresholdedReLU({ theta: 0.2 }))],
  [
    "causal conv1d, dilated and with strides",
    series,
    chain(
      layers.conv1d({ filters: 5, kernelSize: 3, dilationRate: 2, padding: "causal", activation: "tanh" }),
      layers.conv1d({ filters: 3, kernelSize: 2, strides: 2, padding: "causal", useBias: false }),
    ),
  ],
  [
    "transposed conv2d",
    image,
    chain(
      layers.conv2dTranspose({ filters: 4, kernelSize: [3, 4], strides: 2, padding: "same", activation: "tanh" }),
      layers.conv2dTranspose({ filters: 2, kernelSize: [3, 1], strides: [1, 2], useBias: false }),
      layers.conv2dTranspose({ filters: 2, kernelSize: 1, strides: 2, padding: "same" }),
    ),
  ],
  [
    "depthwise conv2d dilated",
    image,
    chain(layers.depthwiseConv2d({ kernelSize: 2, dilationRate: [2, 3], depthMultiplier: 2, activation: "tanh" })),
  ],
  ["conv1d dilated", series, chain(layers.conv1d({ filters: 5, kernelSize: 3, dilationRate: 2 }))],
  [
    "average pooling of series, odd pads",
    series,
    chain(layers.averagePooling1d({ poolSize: 4, strides: 2, padding: "same" })),
  ],
  ["prelu", image, chain(layers.prelu({ sharedAxes: [1, 2] }))],
  ["softmax layer", [6], chain(layers.softmax())],
  ["conv2d valid, strides", image, chain(layers.conv2d({ filters: 4, kernelSize: [3, 2], strides: [2, 1] }))],
  ["conv2d same, odd pads", image, chain(layers.conv2d({ filters: 4, kernelSize: 4, strides: 2, padding: "same" }))],
  [
    "conv2d dilated",
    image,
    chain(layers.conv2d({ filters: 4, kernelSize: 2, dilationRate: 2, padding: "same", useBias: false })),
  ],
  ["conv1d", series, chain(layers.conv1d({ filters: 5, kernelSize: 3, strides: 2, padding: "same" }))],
  ["depthwise", image, chain(layers.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, padding: "same" }))],
  [
    "depthwise, different strides",
    image,
    chain(layers.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, strides: [2, 1] })),
  ],
  ["separable", image, chain(layers.separableConv2d({ filters: 5, kernelSize: 3, depthMultiplier: 2 }))],
  [
    "max-pooling",
    image,
    chain(layers.maxPooling2d({ poolSize: 2 }), layers.maxPooling2d({ poolSize: 2, padding: "same" })),
  ],
  ["average pooling", image, chain(layers.averagePooling2d({ poolSize: [3, 2], strides: [2, 2], padding: "same" }))],
  [
    "pooling of series",
    series,
    chain(layers.maxPooling1d({ poolSize: 2 }), layers.averagePooling1d({ poolSize: 2, strides: 1 })),
  ],
  [
    "volumes",
    [5, 6, 4, 2],
    chain(
      layers.conv3d({ filters: 3, kernelSize: [2, 3, 1], padding: "same", activation: "relu" }),
      layers.maxPooling3d({ poolSize: 2, strides: [1, 2, 1], padding: "same" }),
      layers.conv3d({ filters: 2, kernelSize: 2, strides: [2, 1, 1], useBias: false }),
      layers.batchNormalization(),
      layers.averagePooling3d({ poolSize: [1, 2, 2], strides: 1, padding: "same" }),
    ),
  ],
  ["global average", image, chain(layers.conv2d({ filters: 4, kernelSize: 3 }), layers.globalAveragePooling2d({}))],
  ["global maximum", image, chain(layers.globalMaxPooling2d({}))],
  [
    "global of series",
    series,
    (from) =>
      layers
        .concatenate()
        .apply([
          layers.globalAveragePooling1d().apply(from) as SymbolicTensor,
          layers.globalMaxPooling1d().apply(from) as SymbolicTensor,
        ]) as SymbolicTensor,
  ],
  [
    "batch normalisation between convolutions",
    image,
    chain(
      layers.conv2d({ filters: 4, kernelSize: 3 }),
      layers.batchNormalization(),
      layers.conv2d({ filters: 2, kernelSize: 2 }),
    ),
  ],
  [
    "batch normalisation without γ and β",
    series,
    chain(layers.batchNormalization({ axis: 2, scale: false, center: false })),
  ],
  ["layer normalisation", series, chain(layers.layerNormalization())],
  ...(["lstm", "gru", "simpleRNN"] as const).map((name): (typeof cases)[number] => [
    `embedding with a mask for ${name}`,
    [6],
    (from) => {
      const steps = layers.embedding({ inputDim: 4, outputDim: 3, maskZero: true }).apply(from) as SymbolicTensor;
      const through = chain(layers.dropout({ rate: 0.5 }), layers.dense({ units: 3, activation: "tanh" }))(steps);
      const all = layers[name]({ units: 3, returnSequences: true }).apply(through) as SymbolicTensor;
      const last = layers[name]({ units: 2, goBackwards: true }).apply(all) as SymbolicTensor;
      return layers
        .concatenate()
        .apply([last, layers[name]({ units: 2 }).apply(steps) as SymbolicTensor]) as SymbolicTensor;
    },
  ]),
  [
    "embedding with a mask for attention over a residual branch",
    [6],
    (from) => {
      const steps = layers.embedding({ inputDim: 4, outputDim: 4, maskZero: true }).apply(from) as SymbolicTensor;
      const seen = ownLayers.multiHeadAttention({ heads: 2, causal: true }).apply(steps) as SymbolicTensor;
      const joined = layers.add().apply([steps, seen]) as SymbolicTensor;
      return chain(ownLayers.multiHeadAttention({ heads: 1 }), layers.flatten())(joined);
    },
  ],
  ...(["add", "average", "maximum", "minimum", "multiply", "concatenate"] as const).map(
    (name): (typeof cases)[number] => [
      `embedding of two sequences with masks, joined by ${name}`,
      [12],
      (from) => {
        const parts = [0, 6].map((first) => {
          const columns = Array.from({ length: 6 }, (_, step) => first + step);
          const ids = ownLayers.selectFeatures({ columns }).apply(from) as SymbolicTensor;
          return layers.embedding({ inputDim: 4, outputDim: 3, maskZero: true }).apply(ids) as SymbolicTensor;
        });
        const both = layers[name]().apply(parts) as SymbolicTensor;
        const reader =
          name === "add"
            ? chain(layers.lstm({ units: 2, returnSequences: true }), layers.gru({ units: 3 }))
            : chain(layers.simpleRNN({ units: 2 }));
        return reader(both);
      },
    ],
  ),
  [
    "embedding of two sequences with masks, one after the other",
    [6],
    (from) => {
      const embed = () => layers.embedding({ inputDim: 4, outputDim: 3, maskZero: true }).apply(from) as SymbolicTensor;
      return chain(layers.lstm({ units: 2 }))(
        layers.concatenate({ axis: 1 }).apply([embed(), embed()]) as SymbolicTensor,
      );
    },
  ],
  [
    "masked steps for both directions",
    series,
    chain(
      layers.thresholdedReLU({ theta: 1.2 }),
      layers.masking(),
      layers.bidirectional({ layer: layers.lstm({ units: 3, returnSequences: true }) as RNN, mergeMode: "concat" }),
      layers.timeDistributed({ layer: layers.dense({ units: 2 }) }),
    ),
  ],
  ["embedding", [3], (from) => chain(layers.embedding({ inputDim: 4, outputDim: 5 }))(from)],
  ["rescaling", image, chain(layers.rescaling({ scale: 0.1, offset: 2 }))],
  [
    "reshape and permute",
    series,
    chain(layers.reshape({ targetShape: [3, 6, 2] }), layers.permute({ dims: [3, 1, 2] })),
  ],
  ["repeated vector", [6], chain(layers.repeatVector({ n: 3 }))],
  [
    "zero padding, cropping",
    image,
    chain(
      layers.zeroPadding2d({
        padding: [
          [1, 2],
          [0, 3],
        ],
      }),
      layers.cropping2D({
        cropping: [
          [2, 1],
          [1, 0],
        ],
      }),
    ),
  ],
  ["up-sampling", image, chain(layers.upSampling2d({ size: [2, 3] }))],
  ["bilinear up-sampling", image, chain(layers.upSampling2d({ size: [2, 3], interpolation: "bilinear" }))],
  ...(["bilinear", "nearest"] as const).flatMap((interpolation) =>
    [true, false].map((cropToAspectRatio): (typeof cases)[number] => [
      `${interpolation} resizing, crop ${cropToAspectRatio}`,
      image,
      chain(
        layers.resizing({ height: 4, width: 11, interpolation, cropToAspectRatio }),
        layers.resizing({ height: 9, width: 3, interpolation, cropToAspectRatio }),
      ),
    ]),
  ),
  ...[
    [1, false],
    [-1, true],
    [[1, 2], false],
    [[2, 1], true],
  ].map(([axes, normalize]): (typeof cases)[number] => [
    `dot along ${axes}, normalize ${normalize}`,
    [4, 4],
    (from) =>
      layers
        .dot({ axes: axes as number, normalize: normalize as boolean })
        .apply([from, layers.dense({ units: 4 }).apply(from) as SymbolicTensor]) as SymbolicTensor,
  ]),
  [
    "dot of vectors, and of a matrix and a vector",
    series,
    (from) => {
      const [one, other] = [0, 1].map(() => chain(layers.flatten(), layers.dense({ units: 4 }))(from));
      const dot = (axes: number, normalize: boolean, ...inputs: SymbolicTensor[]) =>
        layers.dot({ axes, normalize }).apply(inputs) as SymbolicTensor;
      return layers
        .concatenate()
        .apply([
          dot(-1, true, one!, other!),
          dot(-1, false, from, one!),
          dot(-1, false, other!, from),
        ]) as SymbolicTensor;
    },
  ],
  [
    "noise and dropout",
    [6],
    chain(layers.dropout({ rate: 0.9 }), layers.gaussianNoise({ stddev: 9 }), layers.gaussianDropout({ rate: 0.5 })),
  ],
  [
    "branches that meet",
    [6],
    (from) => {
      const [a, b, c] = [1, 2, 3].map(
        () => layers.dense({ units: 4, activation: "relu" }).apply(from) as SymbolicTensor,
      ) as [SymbolicTensor, SymbolicTensor, SymbolicTensor];
      const merged = [layers.add(), layers.multiply(), layers.average(), layers.maximum(), layers.minimum()].map(
        (layer) => layer.apply([a, b, c]) as SymbolicTensor,
      );
      return layers.concatenate({ axis: 1 }).apply(merged) as SymbolicTensor;
    },
  ],
  [
    "branches of images",
    image,
    (from) => {
      const [a, b] = [3, 1].map(
        (kernelSize) => layers.conv2d({ filters: 4, kernelSize, padding: "same" }).apply(from) as SymbolicTensor,
      ) as [SymbolicTensor, SymbolicTensor];
      return layers.concatenate().apply([layers.add().apply([a, b]) as SymbolicTensor, from]) as SymbolicTensor;
    },
  ],
  [
    "branches that are broadcast",
    image,
    (from) => {
      const x = layers.conv2d({ filters: 4, kernelSize: 3, padding: "same" }).apply(from) as SymbolicTensor;
      const pooled = layers.globalAveragePooling2d({} as never).apply(x) as SymbolicTensor;
      const gates = layers.dense({ units: 4, activation: "sigmoid" }).apply(pooled) as SymbolicTensor;
      const reshaped = layers.reshape({ targetShape: [1, 1, 4] }).apply(gates) as SymbolicTensor;
      const merged = [layers.multiply(), layers.average(), layers.maximum(), layers.add()].map((layer, index) =>
        layer.apply(index % 2 === 0 ? [x, reshaped] : [gates, x]),
      ) as SymbolicTensor[];
      return layers.concatenate().apply(merged) as SymbolicTensor;
    },
  ],
  [
    "a layer that is used twice",
    [6],
    (from) => {
      const shared = layers.dense({ units: 6, activation: "tanh" });
      return chain(shared, shared)(from);
    },
  ],
  [
    "models inside a model",
    [6],
    (from) => {
      const inner = sequential({ layers: [layers.dense({ units: 4, inputShape: [6] }), layers.reLU()] });
      const outer = sequential({ layers: [inner, layers.dense({ units: 2 })] });
      return layers
        .add()
        .apply([
          outer.apply(from) as SymbolicTensor,
          outer.apply(layers.dense({ units: 6 }).apply(from)) as SymbolicTensor,
        ]) as SymbolicTensor;
    },
  ],
  ["attention", series, chain(ownLayers.multiHeadAttention({ heads: 2 }))],
  [
    "causal attention with its own key size, twice, without biases",
    series,
    chain(
      ownLayers.multiHeadAttention({ heads: 3, keySize: 5, causal: true, useBias: false, dropout: 0.5 }),
      ownLayers.multiHeadAttention({ heads: 1, causal: true }),
    ),
  ],
  [
    "positions, sinusoidal and learned",
    series,
    chain(ownLayers.positionalEncoding({ maxWavelength: 50 }), ownLayers.positionalEmbedding()),
  ],
  ["sinusoidal positions of an odd number of features", [4, 3], chain(ownLayers.positionalEncoding())],
  ["root mean square normalization", series, chain(ownLayers.rmsNormalization({ epsilon: 0.1 }))],
  ["root mean square normalization of images", image, chain(ownLayers.rmsNormalization())],
  ["gelu layers", [6], chain(ownLayers.gelu(), ownLayers.gelu({ approximate: "tanh" }))],
  ["gelu between convolutions", image, chain(layers.conv2d({ filters: 4, kernelSize: 2 }), ownLayers.gelu())],
  ["selected features", [6], chain(ownLayers.selectFeatures({ columns: [5, 0, 2, 0] }))],
  ["selected features of a series", series, chain(ownLayers.selectFeatures({ columns: [1, 2] }))],
  ["simple recurrent", series, chain(layers.simpleRNN({ units: 5 }))],
  [
    "gru, sequences and backwards",
    series,
    chain(
      layers.gru({ units: 5, returnSequences: true, goBackwards: true, recurrentDropout: 0.5 }),
      layers.gru({ units: 3, useBias: false, recurrentActivation: "sigmoid", activation: "elu" }),
    ),
  ],
  [
    "lstm, sequences and backwards",
    series,
    chain(
      layers.lstm({ units: 5, returnSequences: true, dropout: 0.5 }),
      layers.lstm({ units: 3, goBackwards: true, recurrentActivation: "sigmoid", useBias: false }),
    ),
  ],
  [
    "a dense layer at each step",
    series,
    chain(layers.timeDistributed({ layer: layers.dense({ units: 3, activation: "relu" }) })),
  ],
  ["lstm of one step", [1, 4], chain(layers.lstm({ units: 3, returnSequences: true }))],
  ...(["concat", "sum", "mul", "ave"] as const).map(
    (mergeMode, i) =>
      [
        `bidirectional, ${mergeMode}`,
        series,
        chain(
          layers.bidirectional({
            layer: layers.lstm({ units: 3, returnSequences: i % 2 === 0, goBackwards: i > 1 }) as RNN,
            mergeMode,
          }),
        ),
      ] as const,
  ),
];
