import { expect } from 'chai';
import { isLoopback, readConfig } from '../../runtime/config/index.ts';

describe('the settings of a node', () => {
  it('have defaults on loopback', () => {
    const config = readConfig({});
    expect(config.http).to.deep.equal({ hosts: ['127.0.0.1'], port: 8080 });
    expect(config.sip).to.deep.equal({ hosts: ['127.0.0.1'], port: 5060 });
    expect(config.rtpPorts).to.deep.equal({ from: 20000, to: 20999 });
    expect(config.drachtio).to.deep.equal([]);
  });

  it('give a node all roles, or those that are named', () => {
    const all = ['mware', 'b2b', 'conf', 'esg', 'callstore', 'ivr'];
    expect([...readConfig({}).roles]).to.deep.equal(all);
    expect([...readConfig({ RINGMASTER_ROLES: 'b2b, esg,b2b' }).roles]).to.deep.equal(['b2b', 'esg']);
    expect(() => readConfig({ RINGMASTER_ROLES: 'mware,b3b' })).to.throw(
      'RINGMASTER_ROLES: found "b3b", expected roles among mware, b2b, conf, esg, callstore, ivr',
    );
  });

  it('name several real servers', () => {
    expect(readConfig({ RINGMASTER_DRACHTIO: '127.0.0.1:9022:a:b, [::1]:9023:c' }).drachtio).to.deep.equal([
      { host: '127.0.0.1', port: 9022, secret: 'a:b' },
      { host: '::1', port: 9023, secret: 'c' },
    ]);
    expect(
      readConfig({ RINGMASTER_FREESWITCH: 'berlin@127.0.0.1:8021:a@b, fs.example:8021:c@d' }).freeswitch,
    ).to.deep.equal([
      { host: '127.0.0.1', port: 8021, secret: 'a@b', site: 'berlin' },
      { host: 'fs.example', port: 8021, secret: 'c@d' },
    ]);
  });

  it('have one address to listen on, or several, of IPv4 and IPv6', () => {
    const hosts = (value: string) => readConfig({ RINGMASTER_SIP_HOST: value, RINGMASTER_HTTP_HOST: value });
    for (const [value, expected] of [
      ['::1', ['::1']],
      ['[2001:DB8::1], 192.0.2.1', ['2001:db8::1', '192.0.2.1']],
      ['0.0.0.0', ['0.0.0.0']],
      ['::', ['0.0.0.0', '::']],
      ['0.0.0.0,::,::', ['0.0.0.0', '::']],
      ['localhost,127.0.0.1', ['127.0.0.1']],
    ] as const) {
      expect(hosts(value).sip.hosts, value).to.deep.equal(expected);
      expect(hosts(value).http.hosts, value).to.deep.equal(expected);
    }
  });

  it('say which address another one includes', () => {
    expect(() => readConfig({ RINGMASTER_SIP_HOST: '0.0.0.0,192.0.2.1' })).to.throw(
      'either 0.0.0.0, which includes 192.0.2.1, or single addresses',
    );
  });

  it('have a public address for each family', () => {
    const { publicAddresses } = readConfig({
      RINGMASTER_SIP_HOST: '::',
      RINGMASTER_PUBLIC_ADDRESS: '203.0.113.7, 2001:db8::7',
    });
    expect(publicAddresses).to.deep.equal(['203.0.113.7', '2001:db8::7']);
    expect(readConfig({}).publicAddresses).to.deep.equal([]);
  });

  const bad: [string, string][] = [
    ['RINGMASTER_HTTP_PORT', '80a'],
    ['RINGMASTER_ROLES', 'mware,b3b'],
    ['RINGMASTER_ROLES', ' , '],
    ['RINGMASTER_SIP_PORT', '70000'],
    ['RINGMASTER_SIP_HOST', 'example'],
    ['RINGMASTER_SIP_HOST', '127.0.0.1, example'],
    ['RINGMASTER_SIP_HOST', ','],
    ['RINGMASTER_SIP_HOST', 'fe80::1'],
    ['RINGMASTER_SIP_HOST', 'fe80::1%eth0'],
    ['RINGMASTER_SIP_HOST', 'ff02::1'],
    ['RINGMASTER_SIP_HOST', '239.1.2.3'],
    ['RINGMASTER_SIP_HOST', '::ffff:127.0.0.1'],
    ['RINGMASTER_SIP_HOST', '[::1]:5060'],
    ['RINGMASTER_HTTP_HOST', '::1%lo'],
    ['RINGMASTER_PUBLIC_ADDRESS', 'phones.example.com'],
    ['RINGMASTER_PUBLIC_ADDRESS', '0.0.0.0'],
    ['RINGMASTER_PUBLIC_ADDRESS', '203.0.113.7,203.0.113.8'],
    ['RINGMASTER_PUBLIC_ADDRESS', '2001:db8::7%eth0'],
    ['RINGMASTER_PUBLIC_ADDRESS', '2001:db8::7'],
    ['RINGMASTER_RTP_PORTS', '20000'],
    ['RINGMASTER_RTP_PORTS', '30000-20000'],
    ['RINGMASTER_LOG_LEVEL', 'loud'],
    ['RINGMASTER_SCRIPT_PROCESSORS', '1-3'],
    ['RINGMASTER_LOGIN_ALLOW', '10.0.0.0/40'],
    ['RINGMASTER_LOGIN_ALLOW', '192.0.2.1, office'],
    ['RINGMASTER_SCENARIO_NETWORKS', '10.0.0.0/40'],
    ['RINGMASTER_SCENARIO_NETWORKS', 'intranet'],
    ['RINGMASTER_WEBHOOK_NETWORKS', 'intranet'],
    ['RINGMASTER_SCENARIO_HOSTS', 'https://api.example.com'],
    ['RINGMASTER_SCENARIO_HOSTS', '10.0.0.0/8'],
    ['DATABASE_URL', 'mysql://x'],
    ['RINGMASTER_FREESWITCH', 'localhost'],
    ['RINGMASTER_SMTP_URL', 'mail.example.com'],
    ['RINGMASTER_SIPS_PORT', '70000'],
    ['RINGMASTER_WS_PORT', 'auto'],
    ['RINGMASTER_WS_ORIGINS', 'shop.example.com'],
    ['RINGMASTER_WS_ORIGINS', 'https://shop.example.com/phone'],
  ];
  for (const [name, value] of bad) {
    it(`refuse ${name}=${value}, with the setting's name and the expected form`, () => {
      expect(() => readConfig({ [name]: value })).to.throw(new RegExp(`^${name}: found ".*", expected `));
    });
  }

  it('suggests the nearest setting for an unknown name, without its value', () => {
    expect(() => readConfig({ RINGMASTER_HTPP_PORT: '80' })).to.throw(
      /^RINGMASTER_HTPP_PORT is not a setting; did you mean RINGMASTER_HTTP_PORT\? \(docs\/operating\/settings\.md has all\)$/,
    );
    expect(() => readConfig({ RINGMASTER_PGPASS: 'R601i0d75wh7' })).to.throw(
      /^RINGMASTER_PGPASS is not a setting \(docs/,
    );
  });

  it('ask for the certificate of a key, and for the key of a certificate', () => {
    expect(() => readConfig({ RINGMASTER_TLS_CERT: '/c.pem' })).to.throw(/^RINGMASTER_TLS_KEY: /);
    expect(() => readConfig({ RINGMASTER_TLS_KEY: '/k.pem' })).to.throw(/^RINGMASTER_TLS_CERT: /);
    expect(readConfig({ RINGMASTER_TLS_CERT: '/c.pem', RINGMASTER_TLS_KEY: '/k.pem' }).tls).to.deep.equal({
      certFile: '/c.pem',
      keyFile: '/k.pem',
      sipPort: 5061,
      httpPort: 8443,
    });
  });

  it('ask for the sender of mails with a mail server, and keep its password out of the message', () => {
    const url = 'smtp://me:hunter2@mail.example.com:587';
    expect(() => readConfig({ RINGMASTER_SMTP_URL: url })).to.throw(/^RINGMASTER_MAIL_FROM: /);
    expect(readConfig({ RINGMASTER_SMTP_URL: url, RINGMASTER_MAIL_FROM: 'a@b.example' }).mail?.url).to.equal(url);
    expect(() => readConfig({ RINGMASTER_SMTP_URL: `${url}/x` }))
      .to.throw()
      .with.property('message')
      .that.does.not.include('hunter2');
  });

  it('may stand beside the token that commands read, in one shell', () => {
    expect(() => readConfig({ RINGMASTER_TOKEN: 'R601i0d75wh7' })).not.to.throw();
  });

  it('keep passwords out of error messages', () => {
    expect(() => readConfig({ DATABASE_URL: 'mysql://u:hunter2@h/d' }))
      .to.throw()
      .with.property('message')
      .that.does.not.include('hunter2');
    expect(() => readConfig({ RINGMASTER_DRACHTIO: 'x:99999:hunter2' }))
      .to.throw()
      .with.property('message')
      .that.does.not.include('hunter2');
  });

  it('recognise loopback addresses', () => {
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].every(isLoopback)).to.equal(true);
    expect(['0.0.0.0', '192.0.2.1', '::'].some(isLoopback)).to.equal(false);
  });
});
