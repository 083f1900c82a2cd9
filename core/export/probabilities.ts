/** One row of the predictor's answer as a probability a class: of two classes it gives that of the second alone. */
export function probabilitiesOf(answer: readonly number[]): readonly number[] {
  return answer.length === 1 ? [1 - answer[0]!, answer[0]!] : answer;
}
