import { RingmasterError } from "../errors";

/** Thrown when the team has no channel. */
export class NotificationsNotSetError extends RingmasterError {
  constructor(what: string) {
    super(`${what}; \`ringmaster notify set --url https://…\` or \`ringmaster notify set --topic\` sets one`, {
      code: "NOTIFICATIONS_NOT_SET",
      httpStatus: 409,
    });
  }
}
