import * as tf from "@tensorflow/tfjs-core";

export function replaceGradient(gradient: tf.GradConfig): void {
  if (tf.getGradient(gradient.kernelName)) tf.unregisterGradient(gradient.kernelName);
  tf.registerGradient(gradient);
}
