/**
 * Returns one row of a prediction as a probability for each class. With two classes the prediction has only that of the
 * second.
 */
export function probabilitiesOf(answer: readonly number[]): readonly number[] {
  return answer.length === 1 ? [1 - answer[0]!, answer[0]!] : answer;
}
