import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import type { RoleRow } from '../../runtime/iam/collections.ts';
import { RoleTable } from '../../runtime/iam/grants.ts';

const domains = [
  { id: 'm', name: asDomainName('master'), isMaster: true },
  { id: 'd', name: asDomainName('Demo.local'), isMaster: false },
];
const role = (domain_id: string, code: string, ...grants: RoleRow['grants']): RoleRow => ({
  id: `${domain_id}-${code}`,
  domain_id,
  code,
  name: '',
  grants,
  opts: {},
  ext: {},
});

describe('roles', () => {
  const table = new RoleTable(
    [
      role(
        'd',
        'caller',
        { path: '/uc/calls/**', methods: ['*'] },
        { path: '/domain/*/names', methods: ['GET', 'LOOKUP'] },
      ),
      role('m', 'auditor', { path: '/domain/**', methods: ['GET'] }),
      role('m', 'caller', { path: '/secret', methods: ['*'] }),
      role('d', 'all', { path: '/**', methods: ['GET'] }),
    ],
    domains,
  );
  const cases: readonly [roles: readonly string[], method: string, path: string, allowed: boolean][] = [
    [[], 'GET', '/uc/calls', false],
    [[], 'GET', '/user/info', true],
    [[], 'PUT', '/user/avatar', true],
    [[], 'GET', '/user', true],
    [[], 'GET', '/users', false],
    [['auditor'], 'HEAD', '/domain/users', true],
    [['caller'], 'HEAD', '/domain/a/names', true],
    [['auditor'], 'POST', '/domain/users', false],
    [[], 'DELETE', '/iam/sessions/current', true],
    [[], 'GET', '/iam/sessions', false],
    [[], 'GET', '/iam/sessions/current/more', false],
    [['admin'], 'SETUP', '/model/anything/at/all', true],
    [['caller'], 'POST', '/uc/calls', true],
    [['caller'], 'INVITE', '/uc/calls/', true],
    [['caller'], 'SEND_DTMF', '/uc/calls/some-id', true],
    [['caller'], 'POST', '/uc/callsabc', false],
    [['caller'], 'POST', '/uc', false],
    [['caller'], 'GET', '/domain/users/names', true],
    [['caller'], 'LOOKUP', '/domain/users/names', true],
    [['caller'], 'POST', '/domain/users/names', false],
    [['caller'], 'GET', '/domain/users/more/names', false],
    [['caller'], 'GET', '/secret', false],
    [['auditor'], 'GET', '/domain/users/1', true],
    [['auditor'], 'PATCH', '/domain/users/1', false],
    [['nobody', 'auditor'], 'GET', '/domain', true],
    [['nobody'], 'GET', '/domain', false],
    [['all'], 'GET', '/', true],
    [['all'], 'get', '/x', false],
    [['caller'], 'POST', '/uc/calls/id!delete', false],
    [['admin'], 'POST', '/uc/calls/../../domain', false],
  ];
  for (const [roles, method, path, allowed] of cases) {
    it(`[${roles.join(', ')}] ${allowed ? 'may' : 'may not'} ${method} ${path}`, () => {
      expect(table.allows(asDomainName('Demo.local'), roles, method, path)).to.equal(allowed);
    });
  }

  it('are looked up in the domain before the master domain', () => {
    expect(table.allows(asDomainName('master'), ['caller'], 'GET', '/secret')).to.equal(true);
    expect(table.allows(asDomainName('master'), ['all'], 'GET', '/x')).to.equal(false);
  });
});
