import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Pair, render } from '../../../freeswitch-config/render.ts';
import { readSizing, SizingError } from '../../../freeswitch-config/sizing.ts';
import { fill, TemplateError } from '../../../freeswitch-config/template.ts';
import { TEST_PORTS } from '../../support/ports.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SIZING = readFileSync(new URL('../../../freeswitch-config/sizing.yaml', import.meta.url), 'utf8');
const PAIR: Pair = {
  drachtio: { host: '127.0.0.1', port: 9099, secret: 'se"cret' },
  freeswitch: { host: '127.0.0.2', port: 8099, secret: 'pass<word' },
};

describe('Configuration of drachtio-server and FreeSWITCH', () => {
  const target = temporaryFolder({ each: true });

  const rendered = (name: string): string => readFileSync(join(target, name), 'utf8');

  it('renders every template of the shipped sizing file, without a remaining placeholder', () => {
    const files = render(readSizing(SIZING), PAIR, target);
    expect(files).to.include.members(['drachtio.conf.xml', 'freeswitch.xml', 'dialplan/mrf.xml']);
    expect(files, 'FreeSWITCH warns without it').to.include('autoload_configs/msrp.conf.xml');
    for (const file of files) expect(rendered(file), file).not.to.match(/\{\{|\}\}/);
  });

  it('derives sessions, session rate and RTP ports from calls and calls a second', () => {
    const text = SIZING.replace(/^calls: .*/m, 'calls: 300').replace(/^callsPerSecond: .*/m, 'callsPerSecond: 25');
    render(readSizing(text.replace('61000-65535', '40000-41999')), PAIR, target);
    const core = rendered('autoload_configs/switch.conf.xml');
    expect(core).to.include('name="max-sessions" value="660"');
    expect(core).to.include('name="sessions-per-second" value="50"');
    expect(core).to.include('name="rtp-start-port" value="40000"');
    expect(core).to.include('name="rtp-end-port" value="41998"');
  });

  it('RTP ports of phones overlap neither those of the system nor those of the tests', () => {
    const { first, last } = readSizing(SIZING).media.rtp;
    const systems = [32_768, 60_999] as const;
    for (const [from, to] of [systems, TEST_PORTS])
      expect(first > to || last < from, `${first}-${last} and ${from}-${to}`).to.equal(true);
  });

  it('only the node can reach the event socket, on its address and with its password', () => {
    render(readSizing(SIZING.replace('node: 127.0.0.1', 'node: 192.0.2.7')), PAIR, target);
    const socket = rendered('autoload_configs/event_socket.conf.xml');
    expect(socket).to.include('name="listen-ip" value="127.0.0.2"');
    expect(socket).to.include('name="listen-port" value="8099"');
    expect(socket).to.include('name="password" value="pass&#60;word"');
    expect(socket).to.include('name="apply-inbound-acl" value="node"');
    expect(rendered('autoload_configs/acl.conf.xml')).to.match(
      /<list name="node" default="deny">\s*<node type="allow" cidr="192\.0\.2\.7\/32"\/>\s*<\/list>/,
    );
    expect(rendered('drachtio.conf.xml')).to.include('<admin port="9099" secret="se&#34;cret">127.0.0.1</admin>');
  });

  it('every drachtio-server of the node may call the media server, and call records are written where configured', () => {
    const text = SIZING.replace(/^ {2}# (others|callRecords):/gm, '  $1:');
    render(readSizing(text), PAIR, target);
    expect(rendered('autoload_configs/acl.conf.xml')).to.include('cidr="127.0.0.1/32,192.0.2.11/32"');
    expect(rendered('drachtio.conf.xml')).to.include('<cdrs>true</cdrs>');
    render(readSizing(SIZING), PAIR, target);
    expect(rendered('drachtio.conf.xml')).to.include('<cdrs>false</cdrs>');
  });

  it('TLS and WebSockets are opened where configured, with their certificate', () => {
    render(readSizing(SIZING), PAIR, target);
    expect(rendered('drachtio.conf.xml')).not.to.match(/sips:|transport=ws|<tls>/);
    const text = SIZING.replace(/^ {2}# (tlsPort|wsPort|wssPort|certificate):/gm, '  $1:');
    render(readSizing(text), PAIR, target);
    const drachtio = rendered('drachtio.conf.xml');
    expect(drachtio.match(/<contact>.*<\/contact>/g)).to.deep.equal([
      '<contact>sip:127.0.0.1:5060;transport=udp,tcp</contact>',
      '<contact>sips:127.0.0.1:5061;transport=tls</contact>',
      '<contact>sip:127.0.0.1:5066;transport=ws</contact>',
      '<contact>sips:127.0.0.1:5067;transport=wss</contact>',
    ]);
    expect(drachtio).to.include('<cert-file>/etc/ringmaster/tls/cert.pem</cert-file>');
    expect(() => readSizing(SIZING.replace('  # tlsPort:', '  tlsPort:')))
      .to.throw(SizingError)
      .with.property('field', 'sip.certificate');
  });

  it('only the owner can read the files, which hold secrets', () => {
    const files = render(readSizing(SIZING), PAIR, target);
    for (const file of files) expect(statSync(join(target, file)).mode & 0o077, file).to.equal(0);
  });

  it('adds hold music of at least ten seconds, and keeps existing music', () => {
    render(readSizing(SIZING), PAIR, target);
    const music = readFileSync(join(target, 'sounds/music/hold-music.wav'));
    expect(music.toString('latin1', 0, 4)).to.equal('RIFF');
    expect(music.readUInt32LE(24), 'sample rate').to.equal(8000);
    expect(music.length).to.be.greaterThan(10 * 8000 * 2);
    rmSync(join(target, 'sounds/music/hold-music.wav'));
    writeFileSync(join(target, 'sounds/music/own.wav'), music);
    render(readSizing(SIZING), PAIR, target);
    expect(readdirSync(join(target, 'sounds/music'))).to.deep.equal(['own.wav']);
  });

  const refused: readonly [string, (text: string) => string, string][] = [
    [
      'a range of RTP ports too small for the calls',
      (text) => text.replace('61000-65535', '61000-61999'),
      'media.rtpPorts',
    ],
    ['a misspelt setting', (text) => `${text}\ncallsPerSecnd: 5\n`, 'callsPerSecnd'],
    ['a missing setting', (text) => text.replace(/^calls: .*/m, ''), 'calls'],
    ['a name where an address belongs', (text) => text.replace('node: 127.0.0.1', 'node: localhost'), 'node'],
    [
      'a single address where a list belongs',
      (text) => text.replace('# others: [192.0.2.11]', 'others: 192.0.2.11'),
      'sip.others',
    ],
    ['half a call', (text) => text.replace(/^calls: .*/m, 'calls: 0.5'), 'calls'],
  ];
  for (const [what, change, field] of refused) {
    it(`refuses ${what}, and names it`, () => {
      expect(() => readSizing(change(SIZING)))
        .to.throw(SizingError)
        .with.property('field', field);
    });
  }

  it('refuses a template with an unknown placeholder', () => {
    expect(() => fill('<a b="{{no.such}}"/>', {}, 'a.xml', new Set())).to.throw(
      TemplateError,
      'a.xml: no value for {{no.such}}',
    );
  });
});
