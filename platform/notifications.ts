/** The SNS topic of a team, on which the platform publishes what the team asked for. */
export function teamTopicName(prefix: string, team: string): string {
  return `${prefix}-team-${team}`;
}
