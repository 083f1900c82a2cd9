import { validation } from "../errors";
import { indexKey, itemKey } from "../store/item-keys";
import { buckets, compose, kind, successor } from "../store/key-codec";
import type { Range } from "../store/store";
import type { Item } from "../value/attribute-value";
import { readExpressions } from "../wire/expressions";
import type { Fields } from "../wire/fields";
import type { Operation } from "./context";
import { readPage, readPageRequest, requireExactStartKey, type Source, sourceOf } from "./page";

const maxSegments = 1_000_000;

export const scan: Operation = async (context, fields) => {
  const request = readPageRequest(fields);
  const segment = readSegment(fields);
  const expressions = readExpressions(fields, ["ProjectionExpression", "FilterExpression"]);
  const source = sourceOf(context.catalog.get(request.tableName), request);
  const range = segmentRange(source, segment);
  if (request.startKey) {
    requireExactStartKey(source, request.startKey);
    const start = startOf(source, request.startKey);
    if (Buffer.compare(start, range.gte) < 0 || Buffer.compare(start, range.lt) >= 0) {
      throw validation("The provided Exclusive start key is not within the segment");
    }
    return readPage(context, source, request, expressions, { gt: start, lt: range.lt });
  }
  return readPage(context, source, request, expressions, range);
};

interface Segment {
  readonly number: number;
  readonly total: number;
}

function readSegment(fields: Fields): Segment {
  const number = fields.integer("Segment", 0, maxSegments - 1);
  const total = fields.integer("TotalSegments", 1, maxSegments);
  fields.check();
  if (number !== undefined && total === undefined) {
    throw validation(
      "The TotalSegments parameter is required but was not present in the request when Segment parameter is present",
    );
  }
  if (number === undefined && total !== undefined) {
    throw validation(
      "The Segment parameter is required but was not present in the request when parameter TotalSegments is present",
    );
  }
  if (number !== undefined && total !== undefined && number >= total) {
    throw validation(
      `The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ${number} is not less than TotalSegments: ${total}`,
    );
  }
  return { number: number ?? 0, total: total ?? 1 };
}

/** Returns the range of a segment. A segment is a range of buckets. With more than 65,536 segments some are empty. */
function segmentRange({ table, index }: Source, { number, total }: Segment): Required<Pick<Range, "gte" | "lt">> {
  const head = index ? compose(kind.index, [table.id, index.id]) : compose(kind.item, [table.id]);
  const bound = (bucket: number) => {
    if (bucket >= buckets) return successor(head);
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(bucket, 0);
    return Buffer.concat([head, bytes]);
  };
  return {
    gte: bound(Math.floor((number * buckets) / total)),
    lt: bound(Math.floor(((number + 1) * buckets) / total)),
  };
}

function startOf({ table, index }: Source, key: Item): Buffer {
  return index ? indexKey(table, index, key)! : itemKey(table, key);
}
