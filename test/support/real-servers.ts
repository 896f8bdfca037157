import { readConfig, type ServerAddress } from '../../runtime/config/config.ts';

/**
 * Real servers for the tests: RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name them, each on its own; what is not named
 * is embedded. The tests are the same either way.
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

/** Where phones reach the real drachtio-server: `ip:port`. */
export const REAL_SIP_ADDRESS = process.env.RINGMASTER_TEST_SIP ?? '127.0.0.1:5060';

/** The settings by which a node of the tests uses the real servers; none where both are embedded. */
export function realServerSettings(): Record<string, string> {
  const setting = ({ host, port, secret }: ServerAddress) => `${host}:${port}:${secret}`;
  return {
    ...(realDrachtio === undefined ? {} : { RINGMASTER_DRACHTIO: setting(realDrachtio) }),
    ...(realFreeSwitch === undefined ? {} : { RINGMASTER_FREESWITCH: setting(realFreeSwitch) }),
  };
}

/** What phones complain of that is the real servers' own way (docs/conformance.md), and no node's to mend. */
const KNOWN: readonly { readonly real: boolean; readonly complaint: string }[] = [
  { real: REAL_MEDIA, complaint: 'the first packet of a digit has no marker' },
];

/** The complaints of phones that are not known ways of the real servers under test. */
export function unexplained(violations: readonly string[]): string[] {
  return violations.filter((violation) => !KNOWN.some(({ real, complaint }) => real && violation.endsWith(complaint)));
}
