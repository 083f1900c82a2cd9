/** The one account and region of the embedded cloud; ARNs are made of them. */
export const account = "000000000000";
export const region = "us-east-1";
