import { adam, adamw } from "./adam";
import { javascriptGround, type Optimizer, type OptimizerConfig, type OptimizerGround } from "./optimizer";
import { momentum, sgd } from "./sgd";

/** Creates an optimizer with fresh state for `size` weights: all of them, or one rank's part. */
export function createOptimizer(
  config: OptimizerConfig,
  size: number,
  ground: OptimizerGround = javascriptGround,
): Optimizer {
  switch (config.type) {
    case "sgd":
      return sgd(config, ground);
    case "momentum":
      return momentum(size, config, ground);
    case "adam":
      return adam(size, config, ground);
    case "adamw":
      return adamw(size, config, ground);
  }
}
