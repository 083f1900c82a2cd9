import { adam } from "./adam";
import { adamw } from "./adamw";
import { momentum } from "./momentum";
import type { Optimizer, OptimizerConfig } from "./optimizer";
import { sgd } from "./sgd";

/** An optimizer with fresh state for `size` weights. */
export function createOptimizer(config: OptimizerConfig, size: number): Optimizer {
  switch (config.type) {
    case "sgd":
      return sgd(config);
    case "momentum":
      return momentum(size, config);
    case "adam":
      return adam(size, config);
    case "adamw":
      return adamw(size, config);
  }
}
