import type { Load, Operation } from "../../../test/support/operation-verdict";
import type { Api } from "../api";

interface Details {
  readonly model: { readonly revision: number };
  readonly versions: readonly { readonly version: number; readonly description?: string }[];
  readonly history: readonly { readonly revision: number; readonly reason?: string }[];
}

/** Registrations, tags and aliases by the native API. Each round has its own model, so that its history is one page. */
export function modelsLoad(api: Api): Load {
  let model = "";
  return {
    name: "native models",
    weight: 2,
    async begin(round) {
      model = `native-${round}`;
      await api.call("POST", "/v1/models/register", { name: model, source: "s3://elsewhere/1" });
    },
    draw: (random, id) => {
      const share = random();
      const name = model;
      const body = { name, source: "s3://elsewhere/2", description: id, reason: id };
      if (share < 0.4) return change(api, name, id, "register", "POST", "/v1/models/register", body);
      // A separate key: otherwise a repetition after another client's tag would be another change.
      const tag = { key: id, value: id, reason: id };
      if (share < 0.7) return change(api, name, id, "tag", "PUT", `/v1/models/${name}/tags`, tag);
      return change(api, name, id, "alias", "PUT", `/v1/models/${name}/aliases/${id}`, { version: 1, reason: id });
    },
  };
}

function change(
  api: Api,
  model: string,
  id: string,
  name: string,
  method: string,
  path: string,
  body: object,
): Operation {
  return {
    kind: `native: model ${name}`,
    id,
    repeatable: true,
    send: async () => void (await api.call(method, path, body, { "idempotency-key": id })),
    async count() {
      const details = await api.call<Details>("GET", `/v1/models/${model}`);
      const { history, versions } = details;
      if (history.some(({ revision }, at) => revision !== at + 1) || history.length !== details.model.revision)
        throw new Error(`revision ${details.model.revision} has ${history.length} entries of history`);
      const entries = history.filter(({ reason }) => reason === id).length;
      const made = versions.filter(({ description }) => description === id).length;
      if (name === "register" && made !== entries) throw new Error(`${made} versions, ${entries} entries of history`);
      return entries;
    },
  };
}
