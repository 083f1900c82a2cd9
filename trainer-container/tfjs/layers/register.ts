/** The layers that TensorFlow.js lacks. The trainer offers them to users, and the predictor rebuilds them. */
import * as tf from "@tensorflow/tfjs-core";
import {
  MultiHeadAttention,
  type MultiHeadAttentionOptions,
  PositionalEmbedding,
  PositionalEncoding,
  type PositionalEncodingOptions,
} from "./attention";
import { completeConvolutions, inferVolumes } from "./convolutions";
import {
  Gelu,
  type GeluOptions,
  type LayerOptions,
  RmsNormalization,
  type RmsNormalizationOptions,
  SelectFeatures,
  type SelectFeaturesOptions,
} from "./own-layers";
import { completeClasses } from "./serialized";

const classes = [
  MultiHeadAttention,
  PositionalEncoding,
  PositionalEmbedding,
  RmsNormalization,
  Gelu,
  SelectFeatures,
] as const;

const names: ReadonlySet<string> = new Set(classes.map(({ className }) => className));

/** Returns whether stock TensorFlow.js lacks the class. */
export const isOwnClass = (className: string): boolean => names.has(className);

/** Adds the classes to those that a topology can name, and completes TensorFlow.js's. Idempotent. */
export function registerOwnLayers(): void {
  completeClasses();
  completeConvolutions();
  inferVolumes();
  for (const each of classes) tf.serialization.registerClass(each as never);
}

/** Functions that the context's `tf.layers` has next to TensorFlow.js's. */
export const ownLayers = {
  multiHeadAttention: (options: MultiHeadAttentionOptions) => new MultiHeadAttention(options),
  positionalEncoding: (options?: PositionalEncodingOptions) => new PositionalEncoding(options),
  positionalEmbedding: (options?: LayerOptions) => new PositionalEmbedding(options),
  rmsNormalization: (options?: RmsNormalizationOptions) => new RmsNormalization(options),
  gelu: (options?: GeluOptions) => new Gelu(options),
  selectFeatures: (options: SelectFeaturesOptions) => new SelectFeatures(options),
};

export type OwnLayers = typeof ownLayers;
