package lp_test

import "github.com/darrm/darrm/lp"

// recordedRun is a run of a cutting-plane method, to the bit: K = 13 teachers,
// m = 2, ε = 0.1, Δ = 1e-5. Warm-started after the third batch of rows, HiGHS 1.10
// with its own scaling switched on returned as optimal a point that breaks row 24 by
// 7.5e-4.
func recordedRun() (p lp.Problem, batches [][]lp.Row) {
	p = lp.Problem{
		C:     []float64{-0x1.82dca9a839268p-04, -0x1.a3192df9ac7b3p-02, -0x1.a31455988f98cp-01, -0x1p+00, -0x1.a91aef5edbb24p-01, -0x1.ed4338724c5aep-02, -0x1.2f8bd3f79173p-03},
		Lower: make([]float64, 7),
		Upper: []float64{1, 1, 1, 1, 1, 1, 1},
	}
	const rhs = 0x1.9850592ea7007p-04
	rows := []lp.Row{
		{Coef: []float64{0x1.7cc8ed46bfbf7p-13, 0x1.0007fdef64b36p-09, 0x1.346711ef89ee4p-07, 0x1.b1307f2c00de4p-06, 0x1.7e69455a3c6ebp-05, 0x1.99e0fcc7e4b6cp-05, 0x1.6af3d2f2eb8e3p-06}, RHS: rhs},
		{Coef: []float64{0x1.5e2d9acfb201dp-12, 0x1.8f88e8b1d20e4p-09, 0x1.9946f52296927p-07, 0x1.edab6aa4f949dp-06, 0x1.7ddd08633c1eap-05, 0x1.72a95f4cf19aep-05, 0x1.3719049214ca8p-06}, RHS: rhs},
		{Coef: []float64{0x1.2c6e689e538b1p-27, 0x1.406b2a6810d38p-11, 0x1.61a36c4f9745ep-08, 0x1.5291145705a62p-06, 0x1.66918c458b24p-05, 0x1.aaf4f3d98c708p-05, 0x1.8cf2585aef014p-06}, RHS: rhs},
		{Coef: []float64{0x1.1e21a64dcad28p-26, 0x1.23548a55ab346p-10, 0x1.07c746fcb21eep-07, 0x1.a02ec94bc5ec4p-06, 0x1.71e6800f6e9fp-05, 0x1.800a74756e484p-05, 0x1.4ac8455c23d99p-06}, RHS: rhs},
		{Coef: []float64{0x1.5f0f94c8050c8p-13, 0x1.d95e374a5eb13p-10, 0x1.1dc04e372254p-07, 0x1.921e54261f0f1p-06, 0x1.637b76e72473ep-05, 0x1.7d6049166eb4p-05, 0x1.51df95b438468p-06}, RHS: rhs},
		{Coef: []float64{0x1.65316ec533d82p-42, 0x1.108663ba5b94cp-24, 0x1.06f0e21b9fbfp-09, 0x1.c4e1a00e351b8p-07, 0x1.3fa4de1e914fep-05, 0x1.bbf0b1f1ba6a3p-05, 0x1.ba2a9f8c8bf94p-06}, RHS: rhs},
		{Coef: []float64{0x1.543107bde81cbp-41, 0x1.038d18cbc33a5p-23, 0x1.d62dc27c7962fp-09, 0x1.3bc12977e7e61p-06, 0x1.5ee6514168415p-05, 0x1.8f44d23de295cp-05, 0x1.61b8f5bd74e46p-06}, RHS: rhs},
		{Coef: []float64{0x1.a8adde1021426p-57, 0x1.e60312869012dp-39, 0x1.72cf393338f7bp-22, 0x1.9f970af7f9456p-08, 0x1.00804dfdaa195p-05, 0x1.c9dcbe27f5962p-05, 0x1.fa9d2e99df708p-06}, RHS: rhs},
		{Coef: []float64{0x1.94772574baf3ep-56, 0x1.cee0544267e06p-38, 0x1.612758e0ee085p-21, 0x1.69d18ffa32069p-07, 0x1.3fd057878afeap-05, 0x1.a3566ef515cbcp-05, 0x1.7bf0e61a3917p-06}, RHS: rhs},
		{Coef: []float64{0x1.f8ea6a5cb5117p-72, 0x1.813873eab2c08p-53, 0x1.b8da883db2e4fp-36, 0x1.c078bbca8c31dp-20, 0x1.34e333c7dea22p-06, 0x1.cb2ab13dd8158p-05, 0x1.30bde5db27e32p-05}, RHS: rhs},
		{Coef: []float64{0x1.e0e202ea04c3ep-71, 0x1.6ee2219336f68p-52, 0x1.a3dd7d6a64bcep-35, 0x1.ab1d4641b85c4p-19, 0x1.00859fc3f6304p-05, 0x1.ca9d25f11d3b4p-05, 0x1.96479f47ce998p-06}, RHS: rhs},
		{Coef: []float64{0x1.64dd973b590c3p-101, 0x1.986590097eb7dp-82, 0x1.85796d149e1dep-64, 0x1.8c30e17723e1cp-47, 0x1.c566f54a9fea3p-31, 0x1.14bc0f14dc02ep-15, 0x1.985cf5059149p-04}, RHS: rhs},
		{Coef: []float64{0x1.2c27e3ddc9438p-86, 0x1.1e3fe1cfd3eb7p-67, 0x1.b4c7fd656b0b7p-50, 0x1.4d3d19200e3eap-33, 0x1.fc7d791530802p-18, 0x1.9975930b81ef2p-05, 0x1.975bd0382f192p-05}, RHS: rhs},
		{Coef: []float64{0x1.1dde7cd2448d5p-85, 0x1.109fafec2efa3p-66, 0x1.9ffce3311e7b5p-49, 0x1.3d5f2e30b2cd4p-32, 0x1.e4453da7a10ccp-17, 0x1.32828bc801e7p-04, 0x1.9739ec2d1d31p-06}, RHS: rhs},
		{Coef: []float64{0x1.06e1c4f84dc52p-09, 0x1.9e6de0dcf08abp-07, 0x1.0cd66b51e891ep-05, 0x1.637ad1913b782p-05, 0x1.ba197f1b993c8p-06, 0x1.323877497044p-10, -0x1.2d49cd5f74bfp-08}, RHS: rhs},
		{Coef: []float64{0x1.d619c70e210f5p-09, 0x1.3bbc371f30f91p-06, 0x1.4ef02e9fa6f22p-05, 0x1.4cb4becf998e2p-05, 0x1.ba0284cdb777p-07, -0x1.0978103520c48p-07, -0x1.94ecac3950d34p-08}, RHS: rhs},
		{Coef: []float64{0x1.234ced9b7245cp-10, 0x1.07c45ebc99d81p-07, 0x1.94ec57db5fad8p-06, 0x1.4e17ea7a788f2p-05, 0x1.304e376cc73f6p-05, 0x1.0e05e7271889p-06, 0x1.32d2af61cf34p-09}, RHS: rhs},
		{Coef: []float64{0x1.ee6338134876cp-24, 0x1.9f8158c68fae2p-08, 0x1.ce09e7e03ec84p-06, 0x1.7dd5da3e74b7ep-05, 0x1.fa85c06230f38p-06, -0x1.93ae8c0b2p-18, -0x1.947557003231p-08}, RHS: rhs},
		{Coef: []float64{0x1.d6dc164598bcdp-23, 0x1.69c66ccbd9798p-07, 0x1.3fcd2857e583p-05, 0x1.7d329c0f3df1cp-05, 0x1.fa64daba3bf9p-07, -0x1.fb1e4ad2d6b8p-08, -0x1.31387072ad09cp-08}, RHS: rhs},
		{Coef: []float64{0x1.406027014e746p-11, 0x1.47c71145ce8p-08, 0x1.22a9db9b7211cp-06, 0x1.228bdbc5e5409p-05, 0x1.645f311a74518p-05, 0x1.0db20316c399ap-05, 0x1.7a048604c1b48p-07}, RHS: rhs},
		{Coef: []float64{0x1.25e5af2702318p-38, 0x1.c07486565d0a7p-21, 0x1.34d4c6def88e8p-06, 0x1.98547a314629ap-05, 0x1.30ad8d37e641p-05, -0x1.464c06c236p-17, -0x1.96a66868b85dp-08}, RHS: rhs},
		{Coef: []float64{0x1.17e92131ad01fp-37, 0x1.ab1c7e448533bp-20, 0x1.0081ed46c8acdp-05, 0x1.ca9a801de504cp-05, 0x1.30928d0e3c1c8p-06, -0x1.97196a7145378p-08, -0x1.5daf35b37b73fp-18}, RHS: rhs},
		{Coef: []float64{0x1.9f715ccf30c46p-68, 0x1.3cf45d66247d3p-49, 0x1.6ab8d98bb6857p-32, 0x1.70f9ed7bf9393p-16, 0x1.9850e31691dcp-04, -0x1.53d63624cc749p-15, -0x1.bd6cc67c0a8f1p-30}, RHS: rhs},
		{Coef: []float64{0x1.5d6cac484d9p-53, 0x1.8fe20dcd280ap-35, 0x1.3116506d518d1p-18, 0x1.996513ce3e74p-05, 0x1.9743b54b54074p-05, -0x1.148e113e76p-16, -0x1.4d084c7dd6edfp-17}, RHS: rhs},
		{Coef: []float64{0x1.69c0db38f6dd6p-07, 0x1.3fcc81b18f75dp-05, 0x1.7d347eb90ad14p-05, 0x1.fa6d7d3825fcp-07, -0x1.fb1f39fdf41ep-08, -0x1.3155e7f90db96p-08, -0x1.818723f15cba8p-20}, RHS: rhs},
		{Coef: []float64{0x1.ab1c1a466c9d1p-21, 0x1.0080140aadc04p-05, 0x1.ca9d4645b2744p-05, 0x1.3098fb154636p-06, -0x1.97224318224p-08, -0x1.8968fedafdbb1p-18, -0x1.01cf6724971b7p-32}, RHS: rhs},
		{Coef: []float64{0x1.34cd85cad9ec2p-06, 0x1.9855802f27932p-05, 0x1.30b3c2ef2144p-05, -0x1.23b3022278p-17, -0x1.96e33a0e6b4bp-08, -0x1.9d153cadc5f57p-19, -0x1.0eb2b74352a5ep-33}, RHS: rhs},
		{Coef: []float64{0x1.9f79a946a8eefp-08, 0x1.ce07d1b8b35a6p-06, 0x1.7dd6822892408p-05, 0x1.fa89eeb5aed68p-06, -0x1.981b318dbcp-18, -0x1.30281b4d426bcp-07, -0x1.97a1c3ea1c36ap-09}, RHS: rhs},
		{Coef: []float64{0x1.3cf52d1ed2e4cp-51, 0x1.6ab9c742fc921p-33, 0x1.14bc277967b0bp-16, 0x1.985b5f4a29518p-04, -0x1.7997b679d592fp-15, -0x1.1664ef52fbe0bp-29, -0x1.e6868e90ed69dp-45}, RHS: rhs},
		{Coef: []float64{0x1.007e3acbc0dc9p-05, 0x1.caa00c6b08bb8p-05, 0x1.309f69210d938p-06, -0x1.972b1baa62998p-08, -0x1.b51fba5ff2d27p-18, -0x1.4245199f04df1p-32, -0x1.19983a1439132p-47}, RHS: rhs},
	}
	for _, n := range []int{14, 10, 5, 1} {
		batches = append(batches, rows[:n])
		rows = rows[n:]
	}
	return p, batches
}
