/** Tests over IPv6. */
import { networkInterfaces } from 'node:os';

/** Whether this machine has ::1. Containers without IPv6 do not. */
export const HAS_IPV6 = Object.values(networkInterfaces()).some(
  (addresses) => addresses?.some(({ address }) => address === '::1') === true,
);
