import { validation } from "../errors";
import { toDefinition } from "../store/table";
import type { Operation } from "./context";

/** Changes a table's TTL. DynamoDB may take an hour. This change is complete when the answer is sent. */
export const updateTimeToLive: Operation = (context, fields) => {
  const name = fields.tableName();
  const specification = fields.structure("TimeToLiveSpecification");
  if (!specification) fields.missing("TimeToLiveSpecification", undefined);
  const enabled = specification?.boolean("Enabled") ?? specification?.missing("Enabled", false) ?? false;
  const attribute = specification?.requiredString("AttributeName") ?? "";
  if (specification && (attribute.length < 1 || attribute.length > 255)) {
    specification.breaks("AttributeName", attribute, "have length between 1 and 255");
  }
  fields.check();
  return context.exclusively(async () => {
    await context.store.write((draft) => {
      const table = context.catalog.describe(name);
      const current = table.timeToLive?.attribute;
      if (enabled && current === attribute) throw validation("TimeToLive is already enabled");
      if (enabled && current !== undefined) throw validation("TimeToLive is active on a different AttributeName");
      if (!enabled && current === undefined) throw validation("TimeToLive is already disabled");
      if (!enabled && current !== attribute) {
        throw validation(`TimeToLive is active on a different AttributeName: current AttributeName is ${current}`);
      }
      const timeToLive = enabled ? { attribute, ready: false } : undefined;
      context.catalog.replace(draft, { ...toDefinition(table), timeToLive });
      if (!enabled) context.maintenance.scheduleExpiryRemoval(draft, table);
    });
    await context.maintenance.removeScheduled();
    await context.maintenance.indexExpiry(name);
    return { TimeToLiveSpecification: { Enabled: enabled, AttributeName: attribute } };
  });
};

export const describeTimeToLive: Operation = async ({ catalog }, fields) => {
  const name = fields.tableName();
  fields.check();
  const current = catalog.describe(name).timeToLive;
  return {
    TimeToLiveDescription: current
      ? { TimeToLiveStatus: "ENABLED", AttributeName: current.attribute }
      : { TimeToLiveStatus: "DISABLED" },
  };
};
