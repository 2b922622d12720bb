use zhiku_testkit::evidence;

use super::*;

fn check(claim: &str, source: &str, expect: (Support, &str)) {
    let item = evidence(1, "差旅制度 2024", source);
    let got = verify(claim, &[&item], None);
    assert_eq!((got.support, got.reason.code.as_str()), expect, "{claim} | {source} | {:?}", got.reason);
}

const RULE: &str =
    "一线城市的酒店每晚不超过六百五十元，报销单须在返回后三十天内提交。供应商为“蓝盾防水”，型号 M-208。";
const POLICY: &str = "The hotel limit in Zurich is CHF 220 per night. Claims must be filed within 30 days. \
                      Business class is not reimbursed. Revenue was $1.2 million in March 2024.";

#[test]
fn a_sentence_of_the_source_is_supported_by_itself() {
    check("报销单须在返回后三十天内提交。", RULE, (Support::Supported, "quoted"));
    check("The hotel limit in Zurich is CHF 220 per night.", POLICY, (Support::Supported, "quoted"));
}

#[test]
fn other_spellings_of_a_number_are_the_same_number() {
    check("一线城市酒店每晚上限为 650 元。", RULE, (Support::Supported, "words_agree"));
    check("返回后 30 天内须提交报销单。", RULE, (Support::Supported, "words_agree"));
    check("Revenue in 2024-03 was 1,200,000 dollars.", POLICY, (Support::Supported, "words_agree"));
}

#[test]
fn another_number_contradicts_and_a_new_one_is_unsupported() {
    check("一线城市酒店每晚上限为 680 元。", RULE, (Support::Contradicted, "number_differs"));
    check(
        "The hotel limit in Zurich is CHF 250 per night.",
        POLICY,
        (Support::Contradicted, "number_differs"),
    );
    check("Claims must be filed within 30 working days.", POLICY, (Support::Contradicted, "number_differs"));
    check("Revenue was $1.2 million in April 2024.", POLICY, (Support::Contradicted, "number_differs"));
    check("The offices have 14 meeting rooms.", POLICY, (Support::Unsupported, "number_missing"));
}

#[test]
fn codes_and_names_must_occur() {
    check("使用的型号是 M-209。", RULE, (Support::Unsupported, "code_missing"));
    check("使用的型号是 M-20。", RULE, (Support::Unsupported, "code_missing"));
    check("供应商为“东方雨虹”。", RULE, (Support::Unsupported, "name_missing"));
    check("The hotel limit in Geneva is CHF 220 per night.", POLICY, (Support::Unsupported, "name_missing"));
}

#[test]
fn a_denial_must_be_one_in_the_source() {
    check("Business class is reimbursed.", POLICY, (Support::Contradicted, "negation_differs"));
    check(
        "高铁一等座可以报销。",
        "高铁一等座不可以报销，二等座可以报销。",
        (Support::Contradicted, "negation_differs"),
    );
}

#[test]
fn unrelated_text_is_unsupported_whatever_it_cites() {
    check("海棠的花期在春天，花色粉红。", RULE, (Support::Unsupported, "text_unrelated"));
    check("Photosynthesis turns light into sugar.", POLICY, (Support::Unsupported, "text_unrelated"));
    assert_eq!(verify("任何话。", &[], None).reason.code, "no_citation");
}

#[test]
fn another_language_is_judged_by_figures_or_by_similarity() {
    check("苏黎世的酒店上限是每晚 220 法郎。", POLICY, (Support::Partly, "figures_agree"));
    check("商务舱的费用不予报销。", POLICY, (Support::Unchecked, "other_language"));
    let item = evidence(1, "Policy", POLICY);
    let similar = verify("商务舱的费用不予报销。", &[&item], Some(0.9));
    assert_eq!((similar.support, similar.reason.code.as_str()), (Support::Partly, "meaning_agrees"));
    let unlike = verify("商务舱的费用不予报销。", &[&item], Some(0.7));
    assert_eq!((unlike.support, unlike.reason.code.as_str()), (Support::Unsupported, "text_unrelated"));
}
