import { ServiceError } from "../errors";
import { isArray, isObject, type Json } from "../json";
import type { Input } from "./input";
import { type Api, findMachine, type Operation } from "./operation";

const maxTags = 50;

export function readTags(input: Input): Readonly<Record<string, string>> {
  const tags = input.fields["tags"] ?? [];
  if (!isArray(tags)) throw new ServiceError("SerializationException", "The member 'tags' must be a list");
  return Object.fromEntries(tags.map(pair));
}

function pair(tag: Json): readonly [string, string] {
  const { key, value = "" } = isObject(tag) ? tag : {};
  if (typeof key === "string" && key && typeof value === "string") return [key, value];
  throw new ServiceError("ValidationException", `A tag needs a key and a value, not ${JSON.stringify(tag)}`);
}

async function resource(input: Input, api: Api) {
  const arn = input.string("resourceArn", { max: 256 });
  return findMachine(api, arn).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.code === "InvalidArn") throw error;
    throw new ServiceError("ResourceNotFound", `Resource not found: '${arn}'`, { cause: error });
  });
}

export const listTagsForResource: Operation = async (input, api) => {
  const { tags } = await resource(input, api);
  return { tags: Object.entries(tags).map(([key, value]) => ({ key, value })) };
};

export const tagResource: Operation = async (input, api) => {
  const { name } = await resource(input, api);
  return api.exclusively(name, async () => {
    const machine = await resource(input, api);
    const tags = { ...machine.tags, ...readTags(input) };
    if (Object.keys(tags).length > maxTags)
      throw new ServiceError("TooManyTags", `A resource has at most ${maxTags} tags`);
    await api.store.putMachine({ ...machine, tags });
    return {};
  });
};

export const untagResource: Operation = async (input, api) => {
  const { name } = await resource(input, api);
  return api.exclusively(name, async () => {
    const machine = await resource(input, api);
    const keys = input.fields["tagKeys"];
    const gone = new Set(isArray(keys) ? keys : []);
    const tags = Object.fromEntries(Object.entries(machine.tags).filter(([key]) => !gone.has(key)));
    await api.store.putMachine({ ...machine, tags });
    return {};
  });
};
