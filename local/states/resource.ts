/** The resources that Task states may have. */
export const resources: readonly string[] = [
  "arn:aws:states:::lambda:invoke",
  "arn:aws:states:::lambda:invoke.waitForTaskToken",
];
