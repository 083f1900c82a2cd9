import { InvalidInputError } from "../../../core/errors";

export interface ImageSize {
  readonly height: number;
  readonly width: number;
  /** 1: grey, 3: red, green and blue. */
  readonly channels: 1 | 3;
}

/** The size to which images are converted; without channels they keep those of the first image. */
export type TargetSize = Pick<ImageSize, "height" | "width"> & { readonly channels?: 1 | 3 };

/**
 * Parses `32x32` (height and width) or `32x32x3`.
 *
 * @throws InvalidInputError
 */
export function parseImageSize(text: string): TargetSize {
  const [, height, width, channels] = /^(\d{1,5})x(\d{1,5})(?:x([13]))?$/.exec(text) ?? [];
  if (!Number(height) || !Number(width)) {
    const rule = "must be height and width such as 32x32, or with the channels, 1 or 3: 32x32x3";
    throw new InvalidInputError("the images cannot be read", [{ path: "--size", value: text, rule }]);
  }
  const size = { height: Number(height), width: Number(width) };
  return channels === undefined ? size : { ...size, channels: channels === "1" ? 1 : 3 };
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Reads format and size of a PNG or JPEG image from its first bytes; `undefined` for another format. */
export function readImageHeader(bytes: Buffer): (ImageSize & { readonly format: "png" | "jpeg" }) | undefined {
  if (bytes.length >= 26 && bytes.subarray(0, 8).equals(pngSignature)) {
    // The lowest bits of the colour type: 1 palette, 2 colour.
    const channels = (bytes[25]! & 2) === 0 ? 1 : 3;
    return { format: "png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), channels };
  }
  return bytes.length >= 4 && bytes.readUInt16BE(0) === 0xffd8 ? readJpegHeader(bytes) : undefined;
}

/** Follows the segments up to the start of the frame (ITU T.81, B.2.2). */
function readJpegHeader(bytes: Buffer): (ImageSize & { readonly format: "jpeg" }) | undefined {
  let at = 2;
  while (at + 10 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    // C4, C8 and CC are tables, and no frames.
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
      return { format: "jpeg", width, height, channels: bytes[at + 9] === 1 ? 1 : 3 };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
