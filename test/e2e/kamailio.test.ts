import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Kamailio } from '../phones/kamailio.ts';
import { requirePeer } from '../phones/peers.ts';
import { Phone } from '../phones/phone.ts';
import { header } from '../phones/sip/message.ts';
import { makeCertificate } from '../support/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { freeTcpPort } from '../support/ports.ts';
import { REAL_SIP } from '../support/real-servers.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectTalk } from './expectations.ts';

const DOMAIN = '/rest/v1/domain';
const OUTSIDE = '0077123456';

/** Phones connect by TLS; the core is NODE. A flow token in Path and Record-Route names the connection (RFC 5626). */
const EDGE = `
modparam("outbound", "flow_token_secret", "a secret of this test")
modparam("outbound", "force_outbound_flag", 1)
modparam("rr", "enable_double_rr", 1)
modparam("path", "use_received", 0)
request_route {
  if ($pr == "tls") { setflag(1); }
  if (is_method("ACK") && !has_totag()) { t_relay(); exit; }
  if (loose_route()) {
    if (!has_totag()) { record_route(); }
    t_relay(); exit;
  }
  if (has_totag()) { t_relay(); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } exit; }
  if (is_method("REGISTER")) { add_path(); }
  else { record_route(); }
  $du = "sip:NODE";
  t_relay();
}
`;

/** Takes calls by TLS and passes them on to the phone at FAR, and those of the phone to the node by TLS. */
const CARRIER = `
request_route {
  if (is_method("OPTIONS") && !has_totag()) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) {
    append_to_reply("Service-Route: <sip:127.0.0.1:TLS_PORT;transport=tls;lr>\\r\\n");
    append_to_reply("Contact: $hdr(Contact)\\r\\n");
    xlog("L_ALERT", "registered $hdr(Contact)\\n");
    sl_send_reply("200", "OK"); exit;
  }
  if (has_totag()) { loose_route(); t_relay(); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) { t_relay(); } exit; }
  record_route();
  if ($pr == "tls") { xlog("L_ALERT", "route of the call: $hdr(Route)\\n"); loose_route(); $du = "sip:FAR"; }
  else { $du = "sip:NODE;transport=tls"; }
  t_relay();
}
`;

const made = REAL_SIP ? undefined : makeCertificate();

(made === undefined ? describe.skip : describe)('Kamailio', () => {
  const certificate = made ?? { cert: '', key: '' };
  const folder = temporaryFolder();
  let sipsPort = 0;
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  let program = '';
  before(function () {
    program = requirePeer(this, 'kamailio');
  });
  const stage = useStage({
    env: async () => {
      sipsPort = await freeTcpPort();
      return {
        RINGMASTER_TLS_CERT: file('cert.pem', certificate.cert),
        RINGMASTER_TLS_KEY: file('key.pem', certificate.key),
        RINGMASTER_TLS_CA: file('ca.pem', certificate.cert),
        RINGMASTER_SIPS_PORT: String(sipsPort),
        RINGMASTER_HTTPS_PORT: String(await freeTcpPort()),
      };
    },
  });
  let kamailio: Kamailio | undefined;
  const phones: Phone[] = [];

  afterEach(async () => {
    for (const phone of phones.splice(0)) await phone.stop();
    await kamailio?.stop();
    kamailio = undefined;
  });

  it('as edge proxy passes calls on by the flow token of Path, to a phone on TLS (RFC 3327, RFC 5626)', async () => {
    const routes = EDGE.replaceAll('NODE', stage.node.sip);
    kamailio = await Kamailio.start(program, { certificate, modules: ['outbound', 'path'], routes });
    const server = `127.0.0.1:${kamailio.tlsPort}`;
    const alice = await stage.phone('alice', {
      unregistered: true,
      transport: 'tls',
      registrar: server,
      connection: { server, ca: certificate.cert },
    });
    const registered = await alice.register({
      contactParams: ';reg-id=1;+sip.instance="<urn:uuid:00000000-0000-1000-8000-000000000001>"',
      headers: [{ name: 'Supported', value: 'path, outbound' }],
    });
    expect(registered.status, kamailio.output).to.equal(200);
    expect(header(registered.response, 'require'), header(registered.response, 'path')).to.equal('outbound');
    const bob = await stage.phone('bob');
    for (const [from, to, number] of [
      [bob, alice, '101'],
      [alice, bob, '102'],
    ] as const) {
      const { outgoing, incoming } = await stage.connect(from, to, number);
      await expectTalk(outgoing, incoming);
      await incoming.hangup();
      await outgoing.ended();
    }
    await alice.unregister();
  });

  it('as carrier is registered with, called along its Service-Route, and calls, by TLS', async () => {
    const far = await Phone.start({ login: OUTSIDE, domain: 'carrier.example' });
    phones.push(far);
    const routes = CARRIER.replaceAll('FAR', far.contact.replace(/^sip:.*@/, '')).replaceAll(
      'NODE',
      `127.0.0.1:${sipsPort}`,
    );
    kamailio = await Kamailio.start(program, { certificate, modules: ['textopsx'], routes });
    const rest = await stage.rest();
    const make = async (collection: string, body: object): Promise<string> => {
      const answer = await rest.send('POST', `${DOMAIN}/${collection}`, { body });
      expect(answer.status, answer.text).to.equal(200);
      return `${DOMAIN}/${collection}/${answer.json<{ id: string }>().id}`;
    };
    const provider = await make('providers', {
      code: 'kamailio',
      host: 'localhost',
      port: kamailio.tlsPort,
      transport: 'tls',
      register: 'outbound',
      login: 'acme',
      pwd: 'secret',
      mapping: { inbound: [{ pattern: '+4930%', strip: 5, prepend: '' }] },
      numbers: ['+4930%'],
      opts: { ping: 1 },
    });
    await make('routes', { to_pattern: '0077%', target: { type: 'provider', code: 'kamailio' } });
    await eventually(async () => {
      const shown = (await rest.get(provider)).json<object>();
      expect(shown, kamailio?.output).to.include({ state: 'registered', reachable: true });
    });
    const alice = await stage.phone('alice');
    const { outgoing, incoming } = await stage.connect(alice, far, OUTSIDE);
    await expectTalk(outgoing, incoming);
    await incoming.hangup();
    await outgoing.ended();
    expect(kamailio.output).to.contain(`route of the call: <sip:127.0.0.1:${kamailio.tlsPort};transport=tls;lr>`);

    const caller = await Phone.start({
      login: OUTSIDE,
      domain: 'carrier.example',
      registrar: `127.0.0.1:${kamailio.port}`,
    });
    phones.push(caller);
    const called = await stage.connect(caller, alice, 'sip:+4930101@demo.local');
    await expectTalk(called.outgoing, called.incoming);
    await called.outgoing.hangup();
    await called.incoming.ended();
  });
});
