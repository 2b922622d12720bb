use encoding_rs::{EUC_KR, WINDOWS_1251, WINDOWS_1252};
use proptest::prelude::*;

use super::*;

/// Short texts as they stand in real files: notes, notices, tables, addresses, titles, menus.
const SIMPLIFIED: &[&str] = &[
    "海棠A户型卫生间防水采用FS-101。",
    "保修期自竣工验收之日起计算，防水五年。",
    "请于周五前提交报销单据。",
    "第三条 客户报修后，客服应在两小时内响应。",
    "材料,供应商,规格\n瓷砖,佛山陶瓷厂,800x800\n",
    "会议纪要\n时间：3月5日\n地点：二楼会议室\n参加人：王强、李娜",
    "你好，世界",
    "人力资源部",
    "墙面基层处理完毕后涂刷聚氨酯涂料两遍，厚度不小于1.5毫米，闭水试验48小时无渗漏。",
    "腻子粉、乳胶漆、踢脚线、淋浴房、浴霸、橱柜、吊顶",
    "鸳鸯、蝴蝶、蜻蜓、螳螂、蟋蟀",
    "曰：“学而时习之，不亦说乎？”",
    "北京市朝阳区建国路88号院3号楼1205室",
    "产品说明书V2.1.3（仅供内部使用）",
];

const TRADITIONAL: &[&str] = &[
    "保固期間自驗收合格之日起計算，防水五年。",
    "請於週五前提交報銷單據。",
    "臺北市信義區松仁路100號",
    "第三條 客戶報修後，客服應於兩小時內回應。",
    "會議紀錄\n時間：3月5日\n地點：二樓會議室",
    "人力資源部",
    "您好，歡迎使用本系統",
    "材料,供應商,規格\n磁磚,鶯歌陶瓷,800x800\n",
    "牆面處理完畢後塗刷聚氨酯塗料兩遍，厚度不小於1.5公釐，試水48小時無滲漏。",
    "注意事項：請勿將電池投入火中。",
];

const JAPANESE: &[&str] = &[
    "保証期間は引き渡し日から五年間です。",
    "お問い合わせはこちらまで",
    "防水工事の施工手順について説明します。",
    "経費は月末までに申請してください。",
    "カスタマーサポート",
    "第三条　お客様からの修理依頼には二時間以内に対応する。",
    "会議メモ\n日時：3月5日\n場所：二階会議室\n参加者：田中、鈴木",
    "壁面の下地処理が完了した後、ウレタン塗料を二回塗布する。厚さは1.5mm以上とする。",
    "東京都千代田区丸の内一丁目にある本社ビル",
];

fn check_all(encoding: &'static Encoding, samples: &[&str]) {
    let mut wrong = Vec::new();
    for sample in samples {
        let (bytes, _, lossy) = encoding.encode(sample);
        assert!(!lossy, "{sample} is not {}", encoding.name());
        let decoded = decode(&bytes, None);
        if decoded.as_ref().map(|decoded| decoded.text.as_str()) != Some(*sample) {
            wrong.push(format!("{sample} -> {decoded:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), samples.len(), wrong.join("\n"));
}

#[test]
fn short_simplified_chinese_in_gbk_is_recognised() {
    check_all(GB18030, SIMPLIFIED);
}

#[test]
fn short_traditional_chinese_in_big5_is_recognised() {
    check_all(BIG5, TRADITIONAL);
}

#[test]
fn short_japanese_in_shift_jis_is_recognised() {
    check_all(SHIFT_JIS, JAPANESE);
}

#[test]
fn other_languages_are_left_to_statistics() {
    check_all(
        WINDOWS_1252,
        &[
            "Die Prüfung der Anlage erfolgt jährlich im Frühjahr.",
            "Le délai est fixé à trente jours après réception.",
        ],
    );
    check_all(WINDOWS_1251, &["Гарантийный срок составляет пять лет со дня приёмки работ."]);
    check_all(
        EUC_KR,
        &["고객 센터 안내", "보증 기간은 준공일로부터 오 년입니다. 문의는 고객 센터로 하십시오."],
    );
}

fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(to_bytes).collect()
}

#[test]
fn utf_16_is_recognised_with_and_without_a_mark() {
    let texts = SIMPLIFIED
        .iter()
        .chain(TRADITIONAL)
        .chain(JAPANESE)
        .chain(&["Travel policy\r\nHotels: 180 EUR", "naïve café – 5 €"]);
    for text in texts {
        let expect = text.replace("\r\n", "\n");
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked = utf_16(&format!("\u{feff}{text}"), to_bytes);
            assert_eq!(decode(&marked, None).map(|d| d.text).as_deref(), Some(expect.as_str()));
            if text.contains(|c: char| c.is_ascii()) {
                let bare = utf_16(text, to_bytes);
                assert_eq!(decode(&bare, None).map(|d| d.text).as_deref(), Some(expect.as_str()), "{text}");
            }
        }
    }
}

#[test]
fn utf_8_wins_over_everything_and_survives_a_few_broken_bytes() {
    for text in SIMPLIFIED.iter().chain(JAPANESE) {
        assert_eq!(decode(text.as_bytes(), None).map(|d| d.text).as_deref(), Some(*text));
    }
    let mut broken = SIMPLIFIED.concat().into_bytes();
    broken.insert(3, 0xff);
    let decoded = decode(&broken, None).expect("still text");
    assert_eq!((decoded.encoding, decoded.n_replaced), (UTF_8, 1));
}

#[test]
fn a_declared_encoding_is_believed_when_the_bytes_allow_it() {
    let (bytes, _, _) = GB18030.encode("价格表");
    assert_eq!(decode(&bytes, Some(encoding_rs::GBK)).map(|d| d.text).as_deref(), Some("价格表"));
    assert_eq!(decode("价格表".as_bytes(), Some(BIG5)).map(|d| d.text).as_deref(), Some("价格表"));
}

#[test]
fn binary_data_is_not_text() {
    let noise: Vec<u8> = (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert_eq!(decode(&noise, None), None);
    assert_eq!(decode(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0", None), None);
    assert_eq!(decode(&[0; 100], None), None);
    assert_eq!(decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0\0\0\x02\0\x08\x06", None), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Some(decoded) = decode(&bytes, None) {
            prop_assert!(!decoded.text.contains('\r'));
        }
    }
}
