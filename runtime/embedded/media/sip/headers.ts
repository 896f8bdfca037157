import { ALLOW, SUPPORTED, USER_AGENT } from './dialog.ts';

/** Headers of a successful answer, in FreeSWITCH's order. */
export function answerHeaders(contact: string): Record<string, string> {
  return { Contact: contact, 'User-Agent': USER_AGENT, Accept: 'application/sdp', Allow: ALLOW, Supported: SUPPORTED };
}

/** Headers of a refusal. */
export function refusalHeaders(reason?: string): Record<string, string> {
  return {
    'User-Agent': USER_AGENT,
    Accept: 'application/sdp',
    Allow: ALLOW,
    Supported: SUPPORTED,
    'Allow-Events': 'talk, hold, conference, refer',
    ...(reason === undefined ? {} : { Reason: reason }),
  };
}
