/** A connection to NATS as a node has it. */
import { expect } from 'chai';
import { NatsLink } from '../../../runtime/cluster/link/nats-link.ts';
import { readConfig } from '../../../runtime/config/index.ts';
import { silentLog } from '../../support/log.ts';
import type { NatsServer } from './nats-server.ts';

/** One that is not open yet. */
export function linkTo(server: Pick<NatsServer, 'url'>): NatsLink {
  const settings = { DATABASE_URL: 'postgres://localhost/x', RINGMASTER_NODE: 'n1', RINGMASTER_CLUSTER: server.url };
  return new NatsLink(readConfig(settings).cluster ?? expect.fail(), silentLog);
}
