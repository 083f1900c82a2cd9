/** The event of a study's creation, extension or stop: it has to be driven. */
export interface StudyChanged {
  readonly team: string;
  readonly study: string;
  /** ISO 8601. */
  readonly at: string;
}

/** The port to EventBridge. */
export interface StudyEvents {
  /** Resolves when the event was accepted. */
  publishStudyChanged(event: StudyChanged): Promise<void>;
}
