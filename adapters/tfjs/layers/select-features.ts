import * as tf from "@tensorflow/tfjs-core";
import { type LayerOptions, OwnLayer, type Shape, shown } from "./own-layer";

export interface SelectFeaturesOptions extends LayerOptions {
  /** Positions along the last axis, from 0, in the order of the output. */
  readonly columns: readonly number[];
}

/** Takes some columns of the last axis, so that parts of a row can go to different layers. */
export class SelectFeatures extends OwnLayer {
  static readonly className = "SelectFeatures";
  private readonly columns: readonly number[];

  constructor(options: SelectFeaturesOptions) {
    super(options);
    const { columns } = options;
    const arePositions = Array.isArray(columns) && columns.every((each) => Number.isSafeInteger(each) && each >= 0);
    const rule = "must be a list of at least one position from 0";
    this.require(arePositions && columns.length > 0, `columns is ${shown(columns)}, but ${rule}`);
    this.columns = [...columns];
  }

  override computeOutputShape(given: Shape | Shape[]): Shape {
    const shape = this.shapeOf(given);
    const width = shape.at(-1);
    this.requirePositiveInteger("the size of the input's last axis", width);
    const outside = this.columns.find((column) => column >= (width as number));
    this.require(
      outside === undefined,
      `columns has ${outside}, but the input has the columns 0 to ${Number(width) - 1}`,
    );
    return [...shape.slice(0, -1), this.columns.length];
  }

  protected override compute(x: tf.Tensor): tf.Tensor {
    const [first, axis] = [this.columns[0] as number, x.rank - 1];
    if (!this.columns.every((column, index) => column === first + index))
      return tf.gather(x, tf.tensor1d([...this.columns], "int32"), axis);
    const begin = x.shape.map((_, each) => (each === axis ? first : 0));
    return tf.slice(x, begin, [...x.shape.slice(0, -1), this.columns.length]);
  }

  override getConfig() {
    return { ...super.getConfig(), columns: [...this.columns] };
  }
}
