import { seededRandom } from "../../trainer-container/engine/seeded-random";
import type { Digits, Split } from "../reduction/digits";

const classes = 10;
/** Share of the tokens that come from the class's own part of the vocabulary. The rest come from all of it. */
const ownShare = 0.3;
/** Share of the rows whose label is another: no model tells them apart. */
const otherShare = 0.1;

/** Draws rows of token ids whose class shows in which tokens are frequent. */
export function drawTokens(vocabulary: number, length: number, sizes: Readonly<Record<keyof Digits, number>>): Digits {
  const random = seededRandom("tokens");
  const part = vocabulary / classes;
  const token = (label: number): number =>
    random() < ownShare ? label * part + Math.floor(random() * part) : Math.floor(random() * vocabulary);
  const split = (rows: number): Split => {
    const labels = Array.from({ length: rows }, () => Math.floor(random() * classes));
    const images = labels.map((label) => Float32Array.from({ length }, () => token(label)));
    return { images, labels: labels.map((label) => (random() < otherShare ? Math.floor(random() * classes) : label)) };
  };
  return { train: split(sizes.train), validation: split(sizes.validation) };
}
