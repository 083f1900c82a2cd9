/** Returns the name of a team's SNS topic, on which the platform publishes the team's events. */
export function teamTopicName(prefix: string, team: string): string {
  return `${prefix}-team-${team}`;
}
