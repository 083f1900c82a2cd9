import type { ObjectStore } from "./ports";

/** JSON documents in the bucket. */
export async function findJson<T>(objects: ObjectStore, key: string): Promise<T | undefined> {
  const body = await objects.find(key);
  return body === undefined ? undefined : (JSON.parse(new TextDecoder().decode(body)) as T);
}

export async function getJson<T>(objects: ObjectStore, key: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await objects.get(key))) as T;
}
