/**
 * What a robots.txt means, as a table: RFC 9309, the points on which implementations are known to differ, and what
 * site owners write. Paths are as in a URL, without the origin.
 */
export type RobotsVector = {
  about: string;
  robots: string;
  /** Product token; "otter" when left out. */
  agent?: string;
  allowed?: readonly string[];
  forbidden?: readonly string[];
};

const forOtter = (...rules: readonly string[]): string => ['User-agent: otter', ...rules].join('\n');

export const VECTORS: readonly RobotsVector[] = [
  // Lines
  { about: 'an empty file allows everything', robots: '', allowed: ['/', '/a?b'] },
  { about: 'a file of comments allows everything', robots: '# Disallow: /\n\n#', allowed: ['/', '/a'] },
  {
    about: 'HTML instead of a robots.txt allows everything',
    robots: '<html><body>Not: here</body></html>',
    allowed: ['/'],
  },
  {
    about: 'a rule has a name, a colon and a value',
    robots: forOtter('Disallow: /pond'),
    forbidden: ['/pond'],
    allowed: ['/'],
  },
  { about: 'unknown names are passed over', robots: 'Agent: otter\nForbid: /', allowed: ['/pond'] },
  {
    about: 'a missing colon is taken as read',
    robots: 'user-agent otter\ndisallow /pond',
    forbidden: ['/pond/1'],
    allowed: ['/'],
  },
  {
    about: 'a tab may take the place of the colon',
    robots: 'User-agent\totter\nDisallow\t/pond',
    forbidden: ['/pond'],
  },
  { about: 'without a colon a line has just two words', robots: forOtter('Disallow /pond now'), allowed: ['/pond'] },
  { about: 'a rule without a value says nothing', robots: forOtter('Disallow:', 'Disallow'), allowed: ['/', '/pond'] },
  {
    about: 'an empty Disallow does not undo another',
    robots: forOtter('Disallow:', 'Disallow: /pond'),
    forbidden: ['/pond'],
  },
  { about: 'an empty Allow does not either', robots: forOtter('Allow:', 'Disallow: /'), forbidden: ['/', '/a'] },
  {
    about: 'names are read in any case',
    robots: 'USER-AGENT: otter\nDISALLOW: /\naLLoW: /open',
    allowed: ['/open'],
    forbidden: ['/a'],
  },
  {
    about: 'space around names and values does not count',
    robots: '  User-agent :  otter \n\tDisallow  :\t/pond\t',
    forbidden: ['/pond'],
  },
  { about: 'the value may follow the colon at once', robots: 'User-agent:otter\nDisallow:/pond', forbidden: ['/pond'] },
  {
    about: 'only the first colon divides',
    robots: forOtter('Disallow: /time:12:30'),
    forbidden: ['/time:12:30'],
    allowed: ['/time'],
  },
  {
    about: 'common misspellings of Disallow forbid',
    robots: forOtter('Dissallow: /a', 'Dissalow: /b', 'Disalow: /c', 'Diasllow: /d', 'Disallaw: /e'),
    forbidden: ['/a', '/b', '/c', '/d', '/e'],
  },
  {
    about: 'so do those of User-agent',
    robots: 'Useragent: otter\nDisallow: /a\nUser agent: otter\nDisallow: /b',
    forbidden: ['/a', '/b'],
  },
  {
    about: 'a comment ends a line',
    robots: forOtter('Disallow: /pond#deep', '#Disallow: /'),
    forbidden: ['/pond', '/ponds'],
    allowed: ['/'],
  },
  { about: 'a comment may follow at once', robots: forOtter('Disallow: # nothing'), allowed: ['/'] },
  { about: 'lines end with LF', robots: 'User-agent: otter\nDisallow: /a\nDisallow: /b', forbidden: ['/a', '/b'] },
  { about: 'or CR LF', robots: 'User-agent: otter\r\nDisallow: /a\r\nDisallow: /b\r\n', forbidden: ['/a', '/b'] },
  { about: 'or CR', robots: 'User-agent: otter\rDisallow: /a\rDisallow: /b', forbidden: ['/a', '/b'] },
  {
    about: 'or now this, now that',
    robots: 'User-agent: otter\r\r\nDisallow: /a\n\rDisallow: /b',
    forbidden: ['/a', '/b'],
  },
  {
    about: 'a byte order mark is not part of the first line',
    robots: `\uFEFF${forOtter('Disallow: /')}`,
    forbidden: ['/'],
  },
  { about: 'nor is a broken one', robots: `\uFFFD${forOtter('Disallow: /')}`, forbidden: ['/'] },
  {
    about: 'NUL and other noise do no harm',
    robots: `\0\u0001\n${forOtter('Disallow: /a', '\0\0', 'Disallow: /b')}`,
    forbidden: ['/a', '/b'],
    allowed: ['/c'],
  },

  // Groups
  {
    about: 'a rule before any user agent counts for nobody',
    robots: 'Disallow: /\nUser-agent: otter\nDisallow: /pond',
    allowed: ['/'],
    forbidden: ['/pond'],
  },
  {
    about: 'several user agents share the rules below them',
    robots: 'User-agent: heron\nUser-agent: otter\nDisallow: /pond',
    forbidden: ['/pond'],
  },
  {
    about: 'the one named first as well',
    robots: 'User-agent: heron\nUser-agent: otter\nDisallow: /pond',
    agent: 'heron',
    forbidden: ['/pond'],
  },
  {
    about: 'a user agent after a rule begins a new group',
    robots: 'User-agent: heron\nDisallow: /a\nUser-agent: otter\nDisallow: /b',
    allowed: ['/a'],
    forbidden: ['/b'],
  },
  {
    about: 'groups of one user agent are merged',
    robots: 'User-agent: otter\nDisallow: /a\nUser-agent: heron\nDisallow: /b\nUser-agent: otter\nDisallow: /c',
    forbidden: ['/a', '/c'],
    allowed: ['/b'],
  },
  {
    about: 'merged rules are weighed against one another',
    robots: 'User-agent: otter\nDisallow: /\nUser-agent: heron\nDisallow: /x\nUser-agent: otter\nAllow: /x',
    allowed: ['/x'],
    forbidden: ['/y'],
  },
  {
    about: 'blank lines do not end a group',
    robots: 'User-agent: otter\n\n\nDisallow: /a\n\nDisallow: /b',
    forbidden: ['/a', '/b'],
  },
  {
    about: 'a Sitemap between user agents does not either',
    robots: 'User-agent: otter\nSitemap: https://a.example/s.xml\nUser-agent: heron\nDisallow: /',
    forbidden: ['/'],
  },
  {
    about: 'nor a Crawl-delay',
    robots: 'User-agent: otter\nCrawl-delay: 5\nUser-agent: heron\nDisallow: /',
    forbidden: ['/'],
  },
  {
    about: 'nor an unknown line',
    robots: 'User-agent: otter\nNoindex: /x\nUser-agent: heron\nDisallow: /',
    forbidden: ['/'],
  },
  {
    about: 'a Sitemap within the rules does not end the group',
    robots: forOtter('Disallow: /a', 'Sitemap: https://a.example/s.xml', 'Disallow: /b'),
    forbidden: ['/a', '/b'],
  },
  {
    about: 'an empty rule ends the list of user agents all the same',
    robots: 'User-agent: heron\nDisallow:\nUser-agent: otter\nDisallow: /',
    agent: 'heron',
    allowed: ['/a'],
  },
  { about: '"*" is for everybody', robots: 'User-agent: *\nDisallow: /pond', forbidden: ['/pond'], allowed: ['/'] },
  {
    about: 'but for those that are named',
    robots: 'User-agent: *\nDisallow: /\nUser-agent: otter\nDisallow: /pond',
    allowed: ['/a'],
    forbidden: ['/pond'],
  },
  {
    about: 'wherever they are named',
    robots: 'User-agent: otter\nDisallow: /pond\nUser-agent: *\nDisallow: /',
    allowed: ['/a'],
    forbidden: ['/pond'],
  },
  {
    about: 'a group without rules frees its user agent from "*"',
    robots: 'User-agent: *\nDisallow: /\n\nUser-agent: otter',
    allowed: ['/a'],
  },
  {
    about: 'a group that names both counts for the named',
    robots: 'User-agent: *\nUser-agent: otter\nDisallow: /a\nUser-agent: *\nDisallow: /b',
    forbidden: ['/a'],
    allowed: ['/b'],
  },
  {
    about: 'groups for "*" are merged',
    robots: 'User-agent: *\nDisallow: /a\nUser-agent: heron\nDisallow: /x\nUser-agent: *\nDisallow: /b',
    forbidden: ['/a', '/b'],
    allowed: ['/x'],
  },
  {
    about: 'groups for others leave everything allowed',
    robots: 'User-agent: heron\nDisallow: /\nUser-agent: newt\nDisallow: /',
    allowed: ['/', '/a'],
  },

  // User agents
  { about: 'user agents are compared in any case', robots: 'User-agent: OTTER\nDisallow: /', forbidden: ['/'] },
  { about: 'ours too', robots: 'User-agent: otter\nDisallow: /', agent: 'Otter', forbidden: ['/'] },
  { about: 'a version does not count', robots: 'User-agent: otter/2.1\nDisallow: /', forbidden: ['/'] },
  {
    about: 'in ours neither',
    robots: 'User-agent: otter\nDisallow: /',
    agent: 'otter/1.0 (+https://a.example)',
    forbidden: ['/'],
  },
  {
    about: 'nor does a second word',
    robots: 'User-agent: *\nDisallow: /\nUser-agent: Otter Images\nAllow: /pond\nDisallow: /',
    allowed: ['/pond'],
    forbidden: ['/'],
  },
  {
    about: 'a token is compared whole: a longer one is another',
    robots: 'User-agent: otter-images\nDisallow: /',
    allowed: ['/'],
  },
  { about: 'and so is a shorter one', robots: 'User-agent: ott\nDisallow: /', allowed: ['/'] },
  {
    about: 'underscores and hyphens belong to it',
    robots: 'User-agent: sea_otter-bot\nDisallow: /',
    agent: 'sea_otter-bot',
    forbidden: ['/'],
  },
  { about: 'digits do not', robots: 'User-agent: otter2\nDisallow: /', forbidden: ['/'] },
  { about: 'a user agent of odd characters is nobody', robots: 'User-agent: 2otter\nDisallow: /', allowed: ['/'] },
  { about: 'an empty one is too', robots: 'User-agent:\nDisallow: /', allowed: ['/'] },
  { about: '"*" with a word after it is still everybody', robots: 'User-agent: * all\nDisallow: /', forbidden: ['/'] },
  { about: '"*otter" is nobody', robots: 'User-agent: *otter\nDisallow: /', allowed: ['/'] },
  {
    about: 'a token of ours without letters gets what "*" gets',
    robots: 'User-agent: *\nDisallow: /',
    agent: '007',
    forbidden: ['/'],
  },

  // Precedence
  {
    about: 'the longest match decides, wherever it stands',
    robots: forOtter('Allow: /a/b', 'Disallow: /a', 'Allow: /a/b/c/d', 'Disallow: /a/b/c'),
    allowed: ['/', '/a/b', '/a/b/c/d', '/a/bc'],
    forbidden: ['/a', '/a/x', '/a/b/c', '/a/b/c/x'],
  },
  {
    about: 'a longer Disallow beats an Allow',
    robots: forOtter('Disallow: /pond/deep.json', 'Allow: /pond/'),
    forbidden: ['/pond/deep.json'],
    allowed: ['/pond/'],
  },
  {
    about: 'a longer Allow beats a Disallow',
    robots: forOtter('Allow: /pond/deep.json', 'Disallow: /pond/'),
    allowed: ['/pond/deep.json'],
    forbidden: ['/pond/'],
  },
  { about: 'an Allow wins a tie', robots: forOtter('Disallow: /pond', 'Allow: /pond'), allowed: ['/pond', '/pond/a'] },
  { about: 'in either order', robots: forOtter('Allow: /pond', 'Disallow: /pond'), allowed: ['/pond', '/pond/a'] },
  {
    about: 'also between a pattern and a prefix of the same length',
    robots: forOtter('Allow: /*nd', 'Disallow: /pon'),
    allowed: ['/pond'],
    forbidden: ['/pony'],
  },
  {
    about: 'and the other way round',
    robots: forOtter('Disallow: /*nd', 'Allow: /pon'),
    allowed: ['/pond', '/pony'],
    forbidden: ['/sand'],
  },
  {
    about: 'a slash more is longer',
    robots: forOtter('Disallow: /pond', 'Allow: /pond/'),
    forbidden: ['/pond', '/ponds'],
    allowed: ['/pond/'],
  },
  {
    about: 'a "*" counts as one',
    robots: forOtter('Allow: /pond', 'Disallow: /*.json'),
    allowed: ['/pond'],
    forbidden: ['/pond.json'],
  },
  {
    about: 'a pattern may be shorter than the prefix that beats it',
    robots: forOtter('Allow: /pond/dee', 'Disallow: /*.json'),
    allowed: ['/pond/deep.json'],
    forbidden: ['/pond.json'],
  },
  {
    about: 'a "$" counts as one',
    robots: forOtter('Allow: /pond$', 'Disallow: /pond'),
    allowed: ['/pond'],
    forbidden: ['/ponds'],
  },
  {
    about: 'everything but the front page',
    robots: forOtter('Disallow: /', 'Allow: /$'),
    allowed: ['/'],
    forbidden: ['/a', '/?a'],
  },
  {
    about: 'length is counted in octets, encoded',
    robots: forOtter('Disallow: /é/', 'Allow: /*/abc'),
    forbidden: ['/%C3%A9/abc'],
    allowed: ['/e/abc'],
  },
  {
    about: 'robots.txt itself is always allowed',
    robots: forOtter('Disallow: /'),
    allowed: ['/robots.txt'],
    forbidden: ['/robots.txt.gz', '/a/robots.txt'],
  },

  // Paths
  {
    about: 'a rule is a prefix',
    robots: forOtter('Disallow: /fin'),
    forbidden: ['/fin', '/fin.html', '/finch/1', '/fin?a=b'],
    allowed: ['/', '/f', '/dolphin', '/?/fin'],
  },
  {
    about: 'a slash at its end makes a folder',
    robots: forOtter('Disallow: /fin/'),
    forbidden: ['/fin/', '/fin/a', '/fin/?a'],
    allowed: ['/fin', '/fin.html', '/Fin/a'],
  },
  { about: 'case counts', robots: forOtter('Disallow: /Pond'), forbidden: ['/Pond'], allowed: ['/pond', '/POND'] },
  {
    about: 'the query belongs to the path',
    robots: forOtter('Disallow: /list?page='),
    forbidden: ['/list?page=2'],
    allowed: ['/list', '/list?sort=a&page=2'],
  },
  {
    about: 'a rule that begins with neither "/" nor "*" matches nothing',
    robots: forOtter('Disallow: pond', 'Disallow: https://a.example/pond'),
    allowed: ['/pond', '/a'],
  },
  {
    about: '";" and "," are like any other character',
    robots: forOtter('Disallow: /a;b,c'),
    forbidden: ['/a;b,c'],
    allowed: ['/a'],
  },
  { about: 'a double slash is not one slash', robots: forOtter('Disallow: //a'), forbidden: ['//a'], allowed: ['/a'] },

  // Special characters
  {
    about: '"*" at the end changes nothing',
    robots: forOtter('Disallow: /fin*'),
    forbidden: ['/fin', '/finch'],
    allowed: ['/dolphin'],
  },
  {
    about: '"*" is any run of characters, none among them',
    robots: forOtter('Disallow: /a/*/c'),
    forbidden: ['/a/b/c', '/a//c', '/a/b/b/cd'],
    allowed: ['/a/c', '/a/b/d'],
  },
  {
    about: '"*" reaches over slashes and "?"',
    robots: forOtter('Disallow: /*.php'),
    forbidden: ['/a.php', '/b/a.php', '/a.php?x', '/a.php5', '/i?f=a.php'],
    allowed: ['/php', '/a.PHP', '/i?php'],
  },
  {
    about: '"$" ends the path',
    robots: forOtter('Disallow: /*.php$'),
    forbidden: ['/a.php', '/b/a.php'],
    allowed: ['/a.php?x', '/a.php/', '/a.php5'],
  },
  {
    about: '"$" after a plain path',
    robots: forOtter('Disallow: /pond$'),
    forbidden: ['/pond'],
    allowed: ['/pond/', '/pond?a', '/ponds'],
  },
  {
    about: 'a "*" before the "$" undoes it',
    robots: forOtter('Disallow: /pond*$'),
    forbidden: ['/pond', '/ponds/a'],
    allowed: ['/'],
  },
  {
    about: 'several "*" are matched in order',
    robots: forOtter('Disallow: /*a*b*c$'),
    forbidden: ['/abc', '/xaxbxc', '/aabbcc'],
    allowed: ['/acb', '/abcd'],
  },
  {
    about: 'pieces do not overlap',
    robots: forOtter('Disallow: /a*aba$'),
    forbidden: ['/aaba', '/axaba'],
    allowed: ['/aba'],
  },
  {
    about: 'a last piece is looked for after the others',
    robots: forOtter('Disallow: /*ab*ab$'),
    forbidden: ['/abab', '/ab-ab'],
    allowed: ['/ab'],
  },
  { about: '"*" alone is everything', robots: forOtter('Disallow: *'), forbidden: ['/', '/a'] },
  { about: '"**" is "*"', robots: forOtter('Disallow: /a**b'), forbidden: ['/ab', '/axb'], allowed: ['/a'] },
  {
    about: '"*" may stand for the leading slash',
    robots: forOtter('Disallow: *.gif$'),
    forbidden: ['/a.gif', '/b/a.gif'],
    allowed: ['/a.gif?1'],
  },
  {
    about: 'a "$" within is literal',
    robots: forOtter('Disallow: /a$b'),
    forbidden: ['/a$b', '/a%24b'],
    allowed: ['/a'],
  },
  {
    about: 'a literal "*" is written %2A',
    robots: forOtter('Disallow: /a%2Ab'),
    forbidden: ['/a*b', '/a%2Ab', '/a%2ab'],
    allowed: ['/axb'],
  },
  {
    about: 'a literal "$" at the end is written %24',
    robots: forOtter('Disallow: /a%24'),
    forbidden: ['/a$', '/a$b', '/a%24'],
    allowed: ['/a'],
  },
  {
    about: 'a "*" in a URL is a character like any other',
    robots: forOtter('Disallow: /a*c'),
    forbidden: ['/a*c', '/abc'],
    allowed: ['/*'],
  },
  {
    about: 'signs of regular expressions have no meaning',
    robots: forOtter('Disallow: /a.b+(c)[d]'),
    forbidden: ['/a.b+(c)[d]'],
    allowed: ['/aXbb'],
  },

  // Percent-encoding
  {
    about: 'non-ASCII in a rule is the encoded form in a URL',
    robots: forOtter('Disallow: /bäume/ツ'),
    forbidden: ['/b%C3%A4ume/%E3%83%84', '/b%c3%a4ume/%e3%83%84'],
    allowed: ['/b%C3%A4ume'],
  },
  {
    about: 'and the raw form, should a URL have it',
    robots: forOtter('Disallow: /%E3%83%84'),
    forbidden: ['/ツ', '/%E3%83%84'],
  },
  { about: 'characters beyond the basic plane too', robots: forOtter('Disallow: /🦦'), forbidden: ['/%F0%9F%A6%A6'] },
  {
    about: 'hex digits are compared in any case',
    robots: forOtter('Disallow: /a%3cd'),
    forbidden: ['/a%3cd', '/a%3Cd'],
  },
  {
    about: 'encoded letters and digits are letters and digits',
    robots: forOtter('Disallow: /%62%61%7A'),
    forbidden: ['/baz', '/%62az'],
  },
  { about: 'in URLs as well', robots: forOtter('Disallow: /baz'), forbidden: ['/%62%61%7A', '/b%61z'] },
  { about: '"~" is unreserved', robots: forOtter('Disallow: /~joe'), forbidden: ['/~joe', '/%7Ejoe', '/%7ejoe'] },
  { about: 'also the other way round', robots: forOtter('Disallow: /%7Ejoe'), forbidden: ['/~joe', '/%7ejoe'] },
  {
    about: 'an encoded slash is not a slash',
    robots: forOtter('Disallow: /a/b'),
    forbidden: ['/a/b'],
    allowed: ['/a%2Fb'],
  },
  {
    about: 'nor the other way round',
    robots: forOtter('Disallow: /a%2Fb'),
    forbidden: ['/a%2Fb', '/a%2fb'],
    allowed: ['/a/b'],
  },
  {
    about: 'an encoded "?" begins no query',
    robots: forOtter('Disallow: /a?b'),
    forbidden: ['/a?b'],
    allowed: ['/a%3Fb'],
  },
  {
    about: 'in a query a URL matches its encoded form',
    robots: forOtter('Disallow: /go?to=https://a.example/?x'),
    forbidden: ['/go?to=https://a.example/?x', '/go?to=https%3A%2F%2Fa.example%2F%3Fx'],
  },
  {
    about: 'also the other way round',
    robots: forOtter('Disallow: /go?to=https%3A%2F%2Fa.example'),
    forbidden: ['/go?to=https://a.example', '/go?to=https%3a%2f%2fa.example'],
  },
  { about: 'after a "*" too', robots: forOtter('Disallow: /*?*to=https%3A'), forbidden: ['/go?x=1&to=https:'] },
  {
    about: 'an encoded "&" or "=" is data',
    robots: forOtter('Disallow: /a?b=c&d'),
    forbidden: ['/a?b=c&d'],
    allowed: ['/a?b%3Dc&d', '/a?b=c%26d'],
  },
  {
    about: 'brackets match, encoded or not',
    robots: forOtter('Disallow: /api?filter[a]='),
    forbidden: ['/api?filter[a]=1', '/api?filter%5Ba%5D=1'],
  },
  {
    about: 'so do quotes, which URL parsers encode',
    robots: forOtter("Disallow: /a?q='x'"),
    forbidden: ["/a?q='x'", '/a?q=%27x%27'],
  },
  { about: 'and "!", "(" and ")"', robots: forOtter('Disallow: /f(x)!'), forbidden: ['/f(x)!', '/f%28x%29%21'] },
  {
    about: 'and "|" and "^", which some do',
    robots: forOtter('Disallow: /a|b', 'Disallow: /c^d'),
    forbidden: ['/a|b', '/a%7Cb', '/c^d', '/c%5Ed'],
  },
  {
    about: 'and braces, angle brackets and a space',
    robots: forOtter('Disallow: /{id}/<x>/a b'),
    forbidden: ['/%7Bid%7D/%3Cx%3E/a%20b'],
  },
  { about: 'a lone "%" is a "%"', robots: forOtter('Disallow: /100%'), forbidden: ['/100%', '/100%25', '/100%/a'] },
  {
    about: 'a "+" is not a space',
    robots: forOtter('Disallow: /a+b'),
    forbidden: ['/a+b'],
    allowed: ['/a%20b', '/a%2Bb'],
  },

  // As found in the wild
  {
    about: 'a shop',
    robots: [
      'User-agent: *',
      'Disallow: /cart',
      'Disallow: /*?*sort=',
      'Disallow: /*/filter/*',
      'Allow: /cart/help$',
      'Crawl-delay: 1,5',
      '',
      'User-agent: BadBot',
      'Disallow: /',
      '',
      'Sitemap: https://shop.example/sitemap.xml',
    ].join('\r\n'),
    allowed: ['/', '/products?page=2', '/cart/help', '/sorted'],
    forbidden: ['/cart', '/cart/help/me', '/products?page=2&sort=price', '/en/filter/red'],
  },
  {
    about: 'an API that lets one crawler in',
    robots: 'User-agent: otter\nDisallow:\n\nUser-agent: *\nDisallow: /',
    allowed: ['/', '/v1/items?x'],
  },
  {
    about: 'the same for the rest',
    robots: 'User-agent: otter\nDisallow:\n\nUser-agent: *\nDisallow: /',
    agent: 'heron',
    forbidden: ['/', '/v1/items?x'],
  },
];
