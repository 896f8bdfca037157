import { readConfig, type ServerAddress } from '../../runtime/config/config.ts';

/**
 * Real servers for the tests: RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name them, independently; an unnamed one is
 * embedded. The tests are the same either way.
 */
const { drachtio, freeswitch } = readConfig({
  RINGMASTER_DRACHTIO: process.env.RINGMASTER_DRACHTIO,
  RINGMASTER_FREESWITCH: process.env.RINGMASTER_FREESWITCH,
});

export const realDrachtio: ServerAddress | undefined = drachtio[0];
export const realFreeSwitch: ServerAddress | undefined = freeswitch[0];
/** Whether the SIP server is a real drachtio-server. */
export const REAL_SIP = realDrachtio !== undefined;
/** Whether the media server is a real FreeSWITCH. */
export const REAL_MEDIA = realFreeSwitch !== undefined;

/** Address of the real drachtio-server for phones: `ip:port`. */
export const REAL_SIP_ADDRESS = process.env.RINGMASTER_TEST_SIP ?? '127.0.0.1:5060';

/** Node settings for the real servers; none when both are embedded. */
export function realServerSettings(): Record<string, string> {
  const setting = ({ host, port, secret }: ServerAddress) => `${host}:${port}:${secret}`;
  return {
    ...(realDrachtio === undefined ? {} : { RINGMASTER_DRACHTIO: setting(realDrachtio) }),
    ...(realFreeSwitch === undefined ? {} : { RINGMASTER_FREESWITCH: setting(realFreeSwitch) }),
  };
}

/** Violations seen by phones that real servers cause (docs/conformance.md), and a node cannot avoid. */
const KNOWN: readonly { readonly real: boolean; readonly complaint: RegExp }[] = [
  { real: REAL_MEDIA, complaint: /the first packet of a digit has no marker$/ },
  // As a bridge of two legs with G.722 begins.
  { real: REAL_MEDIA, complaint: /an audio packet of 20 bytes$/ },
  // Until the re-INVITE with the key that FreeSWITCH takes at the answer of a called phone.
  { real: REAL_MEDIA, complaint: /bytes that are not encrypted by the agreed key$/ },
];

/** The violations that are not known of the real servers under test. */
export function unexplained(violations: readonly string[]): string[] {
  return violations.filter((violation) => !KNOWN.some(({ real, complaint }) => real && complaint.test(violation)));
}
