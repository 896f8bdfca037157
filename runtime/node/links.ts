/** The node's connections to its SIP servers and media servers. */
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Cluster } from '../cluster/index.ts';
import { type Config, isLoopback, type ServerAddress } from '../config/index.ts';
import type { MediaAgent } from '../embedded/index.ts';
import { MediaServers, type MediaRoute } from '../media/index.ts';
import type { Duties } from './duties.ts';
import { PROFILE, type Servers } from './servers.ts';
import { type Opened, opening } from './shutdown.ts';
import {
  type MessageTap,
  RingingJournal,
  type SipHandlers,
  SipLinks,
  type WaitingInvite,
} from '../signalling/index.ts';

export interface Links {
  readonly sip: SipLinks;
  readonly media: MediaServers;
}

/**
 * @param handlers handlers of requests from outside
 * @param tap receives every SIP message
 * @param cluster learns of INVITEs without a final answer; undefined on a single node
 * @throws SipLinkError, MediaLinkError when no server of a kind is usable in time
 */
export function openLinks(
  config: Pick<Config, 'dataDir' | 'sip' | 'sessionExpires' | 'rtpTimeout' | 'site'>,
  servers: Servers,
  handlers: SipHandlers,
  log: Logger,
  tap: MessageTap | undefined,
  cluster: Pick<Cluster, 'inviteIndex'> | undefined,
  duties: Pick<Duties, 'calls'>,
): Promise<Opened<Links>> {
  return opening(log, async (shutdown) => {
    const journal = RingingJournal.open(join(config.dataDir, 'ringing.jsonl'));
    shutdown.add('journal of ringing phones', () => journal.close());
    const waiting = RingingJournal.open<WaitingInvite>(join(config.dataDir, 'waiting.jsonl'));
    shutdown.add('journal of waiting callers', () => waiting.close());
    journal.mirror = cluster?.inviteIndex('ringing');
    waiting.mirror = cluster?.inviteIndex('waiting');
    const isRemote = ({ site = config.site }: ServerAddress): boolean => site !== config.site;
    const sipAddresses = servers.sip.addresses.map((address) => ({ ...address, isRemote: isRemote(address) }));
    const sip = await SipLinks.connect(sipAddresses, handlers, log, {
      timeoutMs: servers.sip.patienceMs,
      sessionExpires: config.sessionExpires,
      journal,
      waiting,
      tap,
      // Until this node is ready, the others take new calls.
      rests: cluster !== undefined,
      takesCalls: duties.calls,
    });
    shutdown.add('SIP connections', () => sip.close());
    const addresses = servers.media.addresses.map((address) => ({
      host: address.host,
      port: address.port,
      password: address.secret,
      isRemote: isRemote(address),
      profile: PROFILE,
      // drachtio-fsmrf and the dialplan write the address of the node without brackets.
      listenAddress: isLoopback(address.host)
        ? '127.0.0.1'
        : (config.sip.hosts.find((own) => isIPv4(own)) ?? '0.0.0.0'),
      silenceLimitMs: config.rtpTimeout * 1000,
    }));
    const { mediaAgent: agent } = servers;
    const routes = agent === undefined ? sip.all : [directRoute(agent)];
    const media = await MediaServers.connect(routes, addresses, { patienceMs: servers.media.patienceMs, log });
    shutdown.add('media connections', () => media.close());
    return { sip, media };
  });
}

/** The way to the embedded media server: within the process, without SIP. */
function directRoute(agent: MediaAgent): MediaRoute {
  return {
    name: 'direct',
    srfForMedia: agent,
    onControl: (take) => {
      agent.onControl = take;
    },
    get connected() {
      return agent.connected;
    },
  };
}
