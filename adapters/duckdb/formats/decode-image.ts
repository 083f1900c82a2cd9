import { decode as decodeJpeg } from "jpeg-js";
import { PNG } from "pngjs";
import { InvalidInputError } from "../../../core/errors";
import { formatCount } from "../../../core/quantities";
import { readImageHeader, type TargetSize } from "./image-header";
import { type Pixels, resize } from "./sample-table";

/** The maximum number of pixels of an image; decoding takes 4 bytes for each, and a small file may state any size. */
const maxPixels = 32_000_000;
/** The maximum number of values of a row's tensor: rows are processed 2,048 at a time. */
const maxValues = 65_536;

/**
 * Decodes a PNG or JPEG image to 8 bits a channel. Transparency is dropped.
 *
 * @param size to which the image is converted; by default its own
 * @throws InvalidInputError if it is damaged, too large or of another format
 */
export function decodeImage(bytes: Buffer, file: string, size: Partial<TargetSize> = {}): Pixels {
  const header = readImageHeader(bytes);
  if (!header) throw unreadable(file, "must be a PNG or JPEG image; convert it, or remove it");
  const { width, height } = header;
  if (width * height > maxPixels || width * height === 0) {
    throw unreadable(file, `must have 1 to ${formatCount(maxPixels, "pixel")}, and has ${width} × ${height}`);
  }
  const channels = size.channels ?? header.channels;
  const target = { height: size.height ?? height, width: size.width ?? width };
  if (target.height * target.width * channels > maxValues) {
    const rule = `must have at most ${maxValues} values, and has ${target.height} × ${target.width} × ${channels}; give a smaller --size, such as --size 64x64`;
    throw unreadable(file, rule);
  }
  let colours: Uint8Array;
  try {
    colours =
      header.format === "png"
        ? PNG.sync.read(bytes).data
        : decodeJpeg(bytes, { useTArray: true, formatAsRGBA: true, maxMemoryUsageInMB: 512, tolerantDecoding: false })
            .data;
  } catch (cause) {
    throw unreadable(file, decodingRule(header.format, cause as Error), cause);
  }
  const image = { width, height, channels, data: withChannels(colours, width * height, header.channels, channels) };
  return resize(image, target.height, target.width);
}

/** Explains a decoder's error. The messages of PNG's decoder do not depend on the defect, so they are left out. */
function decodingRule(format: "png" | "jpeg", { message }: Error): string {
  if (format === "png") {
    return "must be a complete PNG image: its data is cut off, damaged or of an unknown form; copy or convert it again, or remove it";
  }
  return /unsupported|only single frame/i.test(message)
    ? `must be a JPEG image of a supported form, such as RGB; convert it, or remove it (${message})`
    : `must be a complete JPEG image: its data is cut off or damaged; copy it again, or remove it (${message})`;
}

/** Takes the channels from red, green, blue and transparency. Grey is the luma of ITU-R BT.601. */
function withChannels(colours: Uint8Array, pixels: number, from: 1 | 3, to: 1 | 3): Uint8Array {
  const data = new Uint8Array(pixels * to);
  for (let i = 0; i < pixels; i += 1) {
    const [red, green, blue] = [colours[4 * i]!, colours[4 * i + 1]!, colours[4 * i + 2]!];
    if (to === 1) data[i] = from === 1 ? red : Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
    else {
      data[3 * i] = red;
      data[3 * i + 1] = green;
      data[3 * i + 2] = blue;
    }
  }
  return data;
}

function unreadable(file: string, rule: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${file} cannot be read`, [{ path: "image", rule }], cause);
}
