//! How much a decoded text looks like Chinese, Japanese or Korean that people write.
//!
//! No frequency tables are shipped: the standards themselves sorted the common characters first. GB 2312 (1980) and
//! Big5 (1984) have a level 1 of the 3,755 and 5,401 most common characters, JIS X 0208 one of 2,965. A short list of the
//! most frequent ones of all separates the three scripts where their levels overlap.

use encoding_rs::{BIG5, EUC_JP, Encoding, GBK};

/// The most frequent characters of Simplified Chinese that Traditional Chinese and Japanese write otherwise, and those
/// that all Chinese shares.
const FREQUENT_CHINESE: &str = "的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坚证供材料应标准质规维修防漆售装合同客户付款单价采购";
const FREQUENT_TRADITIONAL: &str = "這來國個說們為時會過對後麼沒於還發當無開見經頭長樣現將與進實點種聲話兒問機給幾業間電門東氣關並內產萬體別處總場師書員華報馬張難數應車計親務記邊風戰幹許覺題統請愛讓認論義術結遠資隊帶條變聯權領傳紅決達辦運強區轉眾輕語滿極黃錢黨雙歷導設議房單據專飛觀爭組視濟離雖證標準質規維裝廠戶購價貨臺灣關於係該該您等網路學習資訊服務使用";
const FREQUENT_JAPANESE: &str = "会国年大日本人一中出者前東京時行十二事生自分社上地方内場合同長見間部学業用物体動理最新明当体対関発電気車駅円県図書館説続読売変様検";

const FREQUENT_KOREAN: &str = "이다는을의에가고하지은로를한사도기니시으어습정인자부해서리대전일나라그있보수스들아것여주장과원제상할만게적성문구동면공";

const PUNCTUATION: &str = "，。、；：？！（）「」『』《》〈〉【】“”‘’…—·　％～￥－＋＝／";

/// Mean over the characters that are not ASCII, about −2 to 2. Zero when there are none.
pub(super) fn plausibility(text: &str) -> f32 {
    let chars: Vec<char> = text.chars().filter(|c| !c.is_ascii()).collect();
    if chars.is_empty() {
        return 0.0;
    }
    let n_kana = chars.iter().filter(|c| is_kana(**c)).count();
    // Kana come in crowds (Japanese) or not at all (Chinese); a few of them are a wrong decoding.
    let n_hangul = chars.iter().filter(|c| is_hangul(**c)).count();
    let script = if n_kana * 5 > chars.len() {
        Script::Japanese
    } else if n_hangul * 4 > chars.len() * 3 {
        Script::Korean
    } else {
        Script::Chinese
    };
    let total: f32 = chars.iter().map(|c| weigh(*c, script)).sum();
    (total - 4.0 * n_lone_ideographs(text) as f32) / chars.len() as f32
}

/// Single ideographs that touch a small Latin letter: an accented letter of a Western text and its neighbour, misread.
fn n_lone_ideographs(text: &str) -> usize {
    let chars: Vec<char> = text.chars().collect();
    let is_lone = |i: usize| {
        let before = i.checked_sub(1).map_or(' ', |i| chars[i]);
        let after = chars.get(i + 1).copied().unwrap_or(' ');
        let touches = before.is_ascii_lowercase() || after.is_ascii_lowercase();
        touches && before.is_ascii() && after.is_ascii() && matches!(chars[i], '\u{3400}'..='\u{9fff}')
    };
    (0..chars.len()).filter(|i| is_lone(*i)).count()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Chinese,
    Japanese,
    Korean,
}

fn weigh(c: char, script: Script) -> f32 {
    if PUNCTUATION.contains(c) {
        return 1.0;
    }
    match c {
        'ぁ'..='ん' | 'ァ'..='ー' => {
            if script == Script::Japanese {
                1.2
            } else {
                -0.5
            }
        }
        '\u{e000}'..='\u{f8ff}' | '\u{fffd}' => -3.0,
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' => 0.5,
        '\u{4e00}'..='\u{9fff}' => weigh_ideograph(c, script),
        // Half-width katakana and rare ideographs.
        'ｦ'..='ﾟ' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{3ffff}' => -1.5,
        c if is_hangul(c) && script == Script::Korean => {
            if FREQUENT_KOREAN.contains(c) {
                2.0
            } else {
                0.6
            }
        }
        '\u{ac00}'..='\u{d7a3}' | '\u{a000}'..='\u{abff}' => -2.0,
        // Box drawing, Cyrillic, dingbats …: possible, rare in a Chinese text.
        _ => -0.7,
    }
}

fn weigh_ideograph(c: char, script: Script) -> f32 {
    let is_japanese = script == Script::Japanese;
    let frequent = if is_japanese {
        FREQUENT_JAPANESE.contains(c)
    } else {
        FREQUENT_CHINESE.contains(c) || FREQUENT_TRADITIONAL.contains(c)
    };
    if frequent {
        return 2.0;
    }
    let mut buffer = [0u8; 4];
    let text = c.encode_utf8(&mut buffer);
    let is_common = if is_japanese {
        // JIS X 0208 level 1 is rows 16 to 47.
        lead(EUC_JP, text).is_some_and(|lead| (0xb0..=0xcf).contains(&lead))
    } else {
        lead(GBK, text)
            .zip(trail(GBK, text))
            .is_some_and(|(lead, trail)| (0xb0..=0xd7).contains(&lead) && trail >= 0xa1)
            || lead(BIG5, text).is_some_and(|lead| (0xa4..=0xc6).contains(&lead))
    };
    if is_common { 0.6 } else { -1.0 }
}

fn is_kana(c: char) -> bool {
    matches!(c, 'ぁ'..='ん' | 'ァ'..='ー')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

fn lead(encoding: &'static Encoding, text: &str) -> Option<u8> {
    encode(encoding, text).map(|bytes| bytes.0)
}

fn trail(encoding: &'static Encoding, text: &str) -> Option<u8> {
    encode(encoding, text).map(|bytes| bytes.1)
}

fn encode(encoding: &'static Encoding, text: &str) -> Option<(u8, u8)> {
    let (bytes, _, lossy) = encoding.encode(text);
    match (&*bytes, lossy) {
        ([lead, trail], false) => Some((*lead, *trail)),
        _ => None,
    }
}
