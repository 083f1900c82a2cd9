/** A model, and which of its versions is meant: by number, by alias (or `latest`), else the one in production. */
export interface ModelReference {
  readonly name: string;
  readonly version?: number;
  readonly alias?: string;
}

/** Reads NAME, NAME@3 or NAME/3 (as MLflow writes it), NAME@ALIAS and NAME@latest. */
export function parseModelReference(text: string): ModelReference {
  const [, name, version, alias] = /^(.+?)(?:[/@]([1-9]\d*)|@([^/@]+))$/.exec(text) ?? [];
  if (name === undefined) return { name: text };
  return version === undefined ? { name, alias: alias ?? "" } : { name, version: Number(version) };
}
