/** Operations that take nothing. */
export type NoInput = Readonly<Record<never, never>>;

/** How an operation is called. */
export interface OperationCall {
  readonly method: string;
  /** Under `/api/v1`, parameters in braces. */
  readonly path: string;
  /** Whether sending it again is safe: always, with an Idempotency-Key only, or never. */
  readonly repeatable: "always" | "with-key" | "never";
  /** The array in the answer that goes on at `nextToken`. */
  readonly pages?: string;
}
