/** Names of the resources for triggers in an account. */
export const triggerNames = ({ prefix, region }: { readonly prefix: string; readonly region: string }) => ({
  /** Group with a schedule for each trigger on a schedule: `<team>.<trigger>`. */
  scheduleGroup: `${prefix}-triggers`,
  /** The role with which schedules call the function `fire-triggers`. Roles belong to the account, not to a region. */
  scheduleRole: `${prefix}-triggers-${region}`,
  /** Queue of firings that could not be delivered in a day. */
  deadLetterQueue: `${prefix}-triggers-undelivered`,
});

/** Returns how the names of the drift alarms of a deployment begin. Users create the alarms. */
export function driftAlarmPrefix(prefix: string): string {
  return `${prefix}-drift-`;
}

/** Parses `<prefix>-drift-<team>.<monitor>`: a dot separates them, because both may contain hyphens. */
export function parseDriftAlarmName(
  prefix: string,
  alarm: string,
): { readonly team: string; readonly monitor: string } | undefined {
  if (!alarm.startsWith(driftAlarmPrefix(prefix))) return undefined;
  const [team, monitor, ...more] = alarm.slice(driftAlarmPrefix(prefix).length).split(".");
  return team && monitor && more.length === 0 ? { team, monitor } : undefined;
}
