/** The only account and region of the embedded cloud. All ARNs contain them. */
export const account = "000000000000";
export const region = "us-east-1";
