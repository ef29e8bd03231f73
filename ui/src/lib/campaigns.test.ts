import { expect, test } from 'vitest';

import { campaigns, isCampaign } from './campaigns';

test('every campaign has a view, found by the name of its kind', () => {
  expect(campaigns().sort()).toEqual(['capacity', 'compare', 'profile']);
  expect([isCampaign('profile'), isCampaign('run'), isCampaign(undefined)]).toEqual([true, false, false]);
});
