import { expect } from 'chai';
import { InviteParameters } from '../../runtime/operations/calls/invite.ts';
import { ParameterError } from '../../runtime/operations/index.ts';
import { parseParameters } from '../../runtime/operations/request/parameters.ts';

describe('parameters of POST and INVITE', () => {
  const accepted: readonly object[] = [
    { from: '101', to: '102' },
    {
      from: 'alice',
      to: "*80102'12,3#",
      mode: 'sipuser',
      callerid: '+4930123',
      callername: '',
      calltimeout: 1,
      binding: 'seance_1',
      response_mode: 0,
      use_intercom: true,
    },
    { from: '101', to: "102'" },
  ];
  for (const body of accepted) {
    it(`accepts ${JSON.stringify(body)}`, () => expect(parseParameters(InviteParameters, body)).to.deep.equal(body));
  }

  const refused: readonly (readonly [unknown, string, string])[] = [
    [{}, 'from', 'is required'],
    [{ from: '1' }, 'to', 'is required'],
    [{ from: '1', to: '2', dry_run: true }, 'dry_run', 'is not known'],
    [{ from: '', to: '1' }, 'from', 'must not be empty'],
    [{ from: '1', to: '' }, 'to', 'must not be empty'],
    [{ from: '1', to: "'1" }, 'to', 'must not be empty'],
    [{ from: 1, to: '2' }, 'from', 'must be string'],
    [{ from: '1', to: 'a b' }, 'to', 'holds characters that are not allowed'],
    [{ from: 'a@b', to: '2' }, 'from', 'holds characters that are not allowed'],
    [{ from: '1\r\nX: y', to: '2' }, 'from', 'holds characters that are not allowed'],
    [{ from: '1', to: "2'1x" }, 'to', 'has a DTMF tail with other characters than 0-9 * # A-D'],
    [{ from: '1', to: '2', mode: 'login' }, 'mode', 'must be one of number, sipuser'],
    [{ from: '1', to: '2', calltimeout: 0 }, 'calltimeout', 'must be >= 1'],
    [{ from: '1', to: '2', calltimeout: '5' }, 'calltimeout', 'must be integer'],
    [{ from: '1', to: '2', response_mode: 6 }, 'response_mode', 'must be <= 5'],
    [{ from: '1', to: '2', response_mode: 1.5 }, 'response_mode', 'must be integer'],
    [{ from: '1', to: '2', use_intercom: 'true' }, 'use_intercom', 'must be boolean'],
    [{ from: '1', to: '2', callername: 'a\r\nb' }, 'callername', 'holds characters that are not allowed'],
    [{ from: '1', to: '2', binding: null }, 'binding', 'must be string'],
    [[], '', 'the parameters must be an object'],
    [null, '', 'the parameters must be an object'],
  ];
  for (const [body, field, reason] of refused) {
    it(`refuses ${JSON.stringify(body)}`, () => {
      try {
        parseParameters(InviteParameters, body);
        expect.fail('nothing was refused');
      } catch (error) {
        expect(error).to.be.instanceOf(ParameterError);
        expect(error).to.deep.include({ field, reason });
      }
    });
  }
});
